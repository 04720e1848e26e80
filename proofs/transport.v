(** T10: what any verifier can accept, and the canonical form that attains it. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain recursive_rejection no_free_lunch.
From resispec Require Import published die.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Transport.
Variables (R : realFieldType) (V Omega : finType).
Implicit Types (p : V -> R) (H : {set V}).

(** Whatever is drawn before the decision: outcomes with a law P (candidate tuples, independent or
    not, distinct or not, or a whole tree), each showing a set of candidates. *)
Variables (P : Omega -> R) (candidates : Omega -> {set V}).

(** A verifier sees the whole outcome and then emits a token: a law for every outcome. *)
Definition verifier (emit : Omega -> V -> R) := forall o, law (emit o).
Definition verifier_law (emit : Omega -> V -> R) : V -> R := fun y => \sum_o P o * emit o y.

(** It accepts when the emitted token is a candidate. *)
Definition verifier_acceptance (emit : Omega -> V -> R) : R :=
  \sum_o P o * \sum_(y in candidates o) emit o y.

(** Q(H), the probability that all candidates lie in H. *)
Definition all_inside H : R := \sum_(o | candidates o \subset H) P o.

(** T10, the upper bound. For every set H, no exact verifier accepts more than p(H) + 1 - Q(H). *)
Theorem acceptance_le_transport p emit H :
    law P -> verifier emit -> verifier_law emit =1 p ->
  verifier_acceptance emit <= \sum_(y in H) p y + 1 - all_inside H.
Proof.
move=> [P_ge0 P_mass] emit_law exact_p.
have -> : \sum_(y in H) p y = \sum_o P o * \sum_(y in H) emit o y.
  rewrite (eq_bigr (fun y => \sum_o P o * emit o y)); last by move=> y _; rewrite -exact_p.
  by rewrite exchange_big; apply: eq_bigr => o _; rewrite mulr_sumr.
have outside : 1 - all_inside H = \sum_(o | ~~ (candidates o \subset H)) P o.
  have -> : 1 = mass P by rewrite P_mass.
  rewrite /mass /all_inside (bigID (fun o => candidates o \subset H)) /=; arith.
have -> : \sum_o P o * (\sum_(y in H) emit o y) + 1 - all_inside H =
    \sum_o P o * (\sum_(y in H) emit o y) + (1 - all_inside H) by arith.
rewrite outside [X in _ + X]big_mkcond -big_split; apply: ler_sum => o _ /=.
have [emit_ge0 emit_mass] := emit_law o.
have part (A B : {set V}) : A \subset B -> \sum_(y in A) emit o y <= \sum_(y in B) emit o y.
  move=> /subsetP AB; rewrite [leRHS](bigID (mem A)) /=.
  have -> : \sum_(y in B | y \in A) emit o y = \sum_(y in A) emit o y.
    by apply: eq_bigl => y; case yA: (y \in A); rewrite ?andbF // (AB y yA).
  have rest_ge0 : 0 <= \sum_(y in B | y \notin A) emit o y by apply: sumr_ge0.
  by linear rest_ge0.
have at_most_1 (A : {set V}) : \sum_(y in A) emit o y <= 1.
  rewrite -emit_mass /mass; apply: le_trans (part A setT (subsetT _)) _.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; apply: eq_bigl => y; rewrite inE.
case: ifP => [out | /negbFE inside]; last first.
  by rewrite addr0; apply: le_scale => //; apply: part.
have inH_ge0 : 0 <= \sum_(y in H) emit o y by apply: sumr_ge0.
have h := le_scale (P_ge0 o) (le_plus inH_ge0 (at_most_1 (candidates o))); linear h.
Qed.

(** The canonical form: pick a candidate by any means, then do one speculative step whose proposal
    is the law s of the pick: accept x with probability min(1, p/s), else draw from (p - s)+. *)
Variable pick : Omega -> V -> R.
Definition pick_law : V -> R := fun x => \sum_o P o * pick o x.
Definition canonical p (o : Omega) : V -> R :=
  step_law (pick o) (standard_test p pick_law) (fun=> standard_residual p pick_law).

Hypotheses (P_law : law P) (picks : forall o, law (pick o)).

Lemma pick_law_law : law pick_law.
Proof.
have [P_ge0 P_mass] := P_law; split=> [x|].
  by apply: sumr_ge0 => o _; apply: mulr_ge0 => //; case: (picks o).
rewrite /mass /pick_law exchange_big /= -[RHS]P_mass; apply: eq_bigr => o _.
by rewrite -mulr_sumr; have [_ e] := picks o; rewrite [\sum_y pick o y]e mulr1.
Qed.

(** The canonical form is exact, however the candidates are drawn and the pick is made. *)
Theorem canonical_exact p : law p -> verifier_law (canonical p) =1 p.
Proof.
move=> p_law y; have s_law := pick_law_law.
have [t acc] := standard_test_accepts p_law s_law.
have exact_p : forall z, step_law pick_law (standard_test p pick_law)
    (fun=> standard_residual p pick_law) z = p z.
  apply: (step_exact_iff p s_law t (fun=> standard_residual_law _ p_law)).2.
  exact: standard_criterion.
rewrite -[RHS]exact_p /verifier_law /canonical /step_law /pick_law.
rewrite (eq_bigr (fun o => \sum_x P o * (pick o x * (standard_test p pick_law x * (x == y)%:R
   + (1 - standard_test p pick_law x) * standard_residual p pick_law y)))); last first.
  by move=> o _; rewrite mulr_sumr.
rewrite exchange_big; apply: eq_bigr => x _; rewrite mulr_suml; apply: eq_bigr => o _.
by rewrite mulrA.
Qed.

Lemma canonical_verifier p : law p -> verifier (canonical p).
Proof.
move=> p_law o; have s_law := pick_law_law; have [t _] := standard_test_accepts p_law s_law.
have r_law := standard_residual_law pick_law p_law.
have := emitted_law (s := Try (pick o) (standard_test p pick_law)
          (fun=> Draw (standard_residual p pick_law))).
by apply; split=> //; exact: picks.
Qed.

(** If only candidates are picked, it accepts at least sum_x min(p x, s x). *)
Theorem canonical_acceptance p :
    law p -> (forall o x, x \notin candidates o -> pick o x = 0) ->
  \sum_x Num.min (p x) (pick_law x) <= verifier_acceptance (canonical p).
Proof.
move=> p_law only; have s_law := pick_law_law; have [P_ge0 _] := P_law.
have [t acc] := standard_test_accepts p_law s_law.
have [r_ge0 _] := standard_residual_law pick_law p_law.
have -> : \sum_x Num.min (p x) (pick_law x) =
    \sum_o P o * \sum_(x in candidates o) pick o x * standard_test p pick_law x.
  rewrite (eq_bigr (fun x => \sum_o P o * (pick o x * standard_test p pick_law x))).
    rewrite exchange_big; apply: eq_bigr => o _; rewrite -mulr_sumr; congr (_ * _).
    rewrite [LHS](bigID (mem (candidates o))) /= [X in _ + X]big1 ?addr0 // => x not_in.
    by rewrite only ?mul0r.
  move=> x _; rewrite -/(minimum p pick_law x) -acc /accepted_mass /pick_law mulr_suml.
  by apply: eq_bigr => o _; rewrite mulrA.
apply: ler_sum => o _; apply: le_scale => //; apply: ler_sum => y _.
rewrite /canonical step_law_mass.
have [pick_ge0 _] := picks o.
set rest := \sum_x _; suff rest_ge0 : 0 <= rest by rewrite /accepted_mass; linear rest_ge0.
apply: sumr_ge0 => x _; apply: mulr_ge0; last exact: r_ge0.
have /andP[_ a_le1] := t x; have h := le_scale (pick_ge0 x) a_le1.
by rewrite /accepted_mass; linear h.
Qed.

End Transport.

Section Independent.
Variables (R : realFieldType) (V : finType) (q : V -> R) (K : nat).

(** K independent candidates from q: outcomes are the functions from positions to tokens. *)
Definition independent (o : {ffun 'I_K -> V}) : R := \prod_i q (o i).
Definition shown (o : {ffun 'I_K -> V}) : {set V} := [set o i | i : 'I_K].

Lemma independent_sum (H : {set V}) :
  \sum_(o : {ffun 'I_K -> V} | shown o \subset H) independent o = (\sum_(x in H) q x) ^+ K.
Proof.
rewrite -[in RHS](card_ord K) -prodr_const bigA_distr_big /=.
apply: eq_bigl => o; apply/subsetP/ffun_onP => [h i | h x /imsetP[i _ ->]]; last exact: h.
by apply: h; apply/imsetP; exists i.
Qed.

Lemma independent_law : law q -> law independent.
Proof.
move=> [q_ge0 q_mass]; split=> [o|]; first by apply: prodr_ge0.
have := independent_sum setT.
have -> : \sum_(x in [set: V]) q x = 1.
  by rewrite -q_mass; apply: eq_bigl => x; rewrite inE.
rewrite expr1n => <-; apply: eq_bigl => o; exact/esym/subsetT.
Qed.

(** T10 for independent candidates: no exact verifier accepts more than p(H) + 1 - q(H)^K. *)
Theorem acceptance_le_transport_independent p emit H :
    law q -> verifier emit -> verifier_law independent emit =1 p ->
  verifier_acceptance independent shown emit
  <= \sum_(y in H) p y + 1 - (\sum_(x in H) q x) ^+ K.
Proof.
move=> q_law emit_law exact_p; rewrite -independent_sum.
exact: (acceptance_le_transport shown H (independent_law q_law) emit_law exact_p).
Qed.

End Independent.

Section Die.
Variable R : realFieldType.

(** In the example of die.v no exact verifier of K >= 1 candidates accepts more than 2/3; the
    published rule "accepts" 5/6 ([die_published_acceptance]). *)
Theorem die_bound K (emit : {ffun 'I_K.+1 -> 'I_3} -> 'I_3 -> R) :
    verifier emit -> verifier_law (independent (two_faces R)) emit =1 die R ->
  verifier_acceptance (independent (two_faces R)) (@shown _ K.+1) emit <= 2%:R / 3%:R.
Proof.
move=> emit_law exact_p.
have h := acceptance_le_transport_independent [set x : 'I_3 | (x < 2)%N] (two_faces_law R)
            emit_law exact_p.
apply: le_trans h _.
have sumH (F : 'I_3 -> R) : \sum_(x in [set x : 'I_3 | (x < 2)%N]) F x = F face0 + F face1.
  by rewrite big_mkcond sum3 !inE /= addr0.
have v2 : 2%:R * 2%:R^-1 = 1 :> R by rewrite mulfV // nat_neq0.
rewrite !sumH /two_faces /die /=.
have -> : 2%:R^-1 + 2%:R^-1 = 1 :> R by from (1 : R) v2.
by rewrite expr1n; have e := lexx (2%:R / 3%:R : R); linear e.
Qed.

End Die.
