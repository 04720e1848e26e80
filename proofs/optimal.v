(** T9 to T12: the schedule is the best exact sequential rule; what any verifier can accept; and the
    canonical form, a pick followed by one step, with picks by ranks and by weights. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain recursive_rejection no_free_lunch.
From resispec Require Import resispec piecewise duality published die.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Best_rule.
Variables (R : realFieldType) (V : finType) (p q : V -> R).
Hypotheses (p_law : law p) (q_law : law q).

Let p_ge0 x : 0 <= p x. Proof. by case: p_law. Qed.

(** S_K as a function of W is piecewise linear, *)
Lemma total_piecewise i a b : a <= b -> piecewise (fun W => total p q W i) a b.
Proof.
move=> ab; elim: i => [|i IH] /=.
  by apply: piecewise_congr (piecewise_affine 0 0 a b) => t _; arith.
apply: piecewise_add => //; apply: piecewise_sum => // x; apply: piecewise_max => //.
  have h := piecewise_add ab (piecewise_affine (p x) 0 a b) (piecewise_scale (- q x) ab IH).
  by apply: piecewise_congr h => t _; arith.
apply: piecewise_min => //.
  by apply: piecewise_congr (piecewise_affine (p x) 0 a b) => t _; arith.
apply: piecewise_scale => //; apply: piecewise_max => //.
  have h := piecewise_add ab (piecewise_affine 0 1 a b) (piecewise_scale (- 1) ab IH).
  by apply: piecewise_congr h => t _; arith.
by apply: piecewise_congr (piecewise_affine 0 0 a b) => t _; arith.
Qed.

Lemma total_le_count W i : total p q W i <= i%:R.
Proof.
elim: i => [|i IH] //; rewrite total_next.
have w_le1 : w p q W i <= 1.
  case: (p_law) => _ <-; apply: mass_below; apply: u_le_p => //; exact: total_ge0.
by rewrite -addn1 natrD; apply: le_plus.
Qed.

Lemma total_ge1 W n : 1 <= total p q W n.+1.
Proof.
elim: n => [|n IH].
  by rewrite total_next (w_first q W p_law) /= add0r.
by apply: le_trans IH _; rewrite [leRHS]total_next; have h : 0 <= w p q W n.+1 by [exact: w_ge0];
   linear h.
Qed.

(** so that W = S_K(W) has a solution between 1 and K. *)
Theorem root_exists n : exists W, 1 <= W <= n.+1%:R /\ total p q W n.+1 = W.
Proof.
have one_le : 1 <= n.+1%:R :> R by rewrite ler1n.
have h := piecewise_add one_le (total_piecewise n.+1 one_le)
            (piecewise_affine 0 (- 1) (1 : R) n.+1%:R).
have f1 : 0 <= total p q 1 n.+1 + (0 + (- 1) * 1).
  by have g := total_ge1 1 n; linear g.
have fK : total p q n.+1%:R n.+1 + (0 + (- 1) * n.+1%:R) <= 0.
  have g := total_le_count n.+1%:R n.+1; set K := n.+1%:R in g *; linear g.
have [W [W_in zero]] := piecewise_zero one_le h f1 fK.
by exists W; split=> //; from (1 : R) zero.
Qed.

(** T9, complete. For every K >= 1 there is a W whose schedule is an exact sequential rule with K
    candidates from q that accepts sum_x min(p x, W q x), and no exact sequential rule with K
    candidates from q accepts more. *)
Theorem schedule_optimal n : exists W,
  [/\ 1 <= W <= n.+1%:R, total p q W n.+1 = W,
      proper (schedule p q W n.+1) /\ candidates_from q n.+1 (schedule p q W n.+1),
      emitted (schedule p q W n.+1) =1 p &
      acceptance_rate (schedule p q W n.+1) = \sum_x Num.min (p x) (W * q x) /\
      forall s, proper s -> candidates_from q n.+1 s -> emitted s =1 p ->
        acceptance_rate s <= acceptance_rate (schedule p q W n.+1)].
Proof.
have [W [W_in root]] := root_exists n; exists W; split=> //.
- split; [exact: schedule_from_proper | exact: schedule_candidates].
- exact: resispec_exact.
- have rate := schedule_acceptance p_law q_law root; split=> // s s_proper s_k exact_p.
  by rewrite rate; apply: (acceptance_le_schedule p_law q_law root).
Qed.

(** In particular recursive rejection accepts at most as much. *)
Theorem recursive_rejection_le_schedule W n :
    total p q W n.+1 = W ->
  acceptance_rate (recursive_rejection q p n.+1) <= acceptance_rate (schedule p q W n.+1).
Proof.
move=> root; rewrite (schedule_acceptance p_law q_law root).
apply: (acceptance_le_schedule p_law q_law root).
- exact: recursive_rejection_proper.
- have chain k r : candidates_from q k (recursive_rejection q r k) by elim: k r => [|k IH] r //=; split.
  exact: chain.
- exact: recursive_rejection_exact.
Qed.

(** So does K-SEQ, for every rho for which it is exact. *)
Theorem k_seq_le_schedule W n rho :
    total p q W n.+1 = W -> 0 < rho -> emitted (k_seq rho q p n.+1) =1 p ->
  acceptance_rate (k_seq rho q p n.+1) <= acceptance_rate (schedule p q W n.+1).
Proof.
move=> root rho_gt0 exact_p; rewrite (schedule_acceptance p_law q_law root).
have [q_ge0 _] := q_law; apply: (acceptance_le_schedule p_law q_law root) exact_p.
- apply: constant_mass_proper => // x; last exact: min_right.
  by apply: min_greatest; [apply: divr_ge0; [exact: p_ge0 | exact: ltW] | exact: q_ge0].
- have chain m k r : candidates_from q k (constant_mass m q r k) by elim: k r => [|k IH] r //=; split.
  exact: chain.
Qed.

End Best_rule.

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
Theorem acceptance_upper_bound p emit H :
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

(** Pick a candidate by any means, then do one step against the law s of the pick: accept x with
    probability a x, else draw from res. *)
Variable pick : Omega -> V -> R.
Definition pick_law : V -> R := fun x => \sum_o P o * pick o x.
Definition picked_step a res (o : Omega) : V -> R := step_law (pick o) a (fun=> res).

(** The canonical form: accept x with probability min(1, p/s), else draw from (p - s)+. *)
Definition canonical p : Omega -> V -> R :=
  picked_step (standard_test p pick_law) (standard_residual p pick_law).

Hypotheses (P_law : law P) (picks : forall o, law (pick o)).

Lemma pick_law_law : law pick_law.
Proof.
have [P_ge0 P_mass] := P_law; split=> [x|].
  by apply: sumr_ge0 => o _; apply: mulr_ge0 => //; case: (picks o).
rewrite /mass /pick_law exchange_big /= -[RHS]P_mass; apply: eq_bigr => o _.
by rewrite -mulr_sumr; have [_ e] := picks o; rewrite [\sum_y pick o y]e mulr1.
Qed.

(** Seen without the outcome it is a step whose proposal is the law of the pick, *)
Lemma picked_step_law a res y : verifier_law (picked_step a res) y = step_law pick_law a (fun=> res) y.
Proof.
rewrite /verifier_law /picked_step /step_law /pick_law.
rewrite (eq_bigr (fun o => \sum_x P o * (pick o x * (a x * (x == y)%:R + (1 - a x) * res y)))); last first.
  by move=> o _; rewrite mulr_sumr.
rewrite exchange_big; apply: eq_bigr => x _; rewrite mulr_suml; apply: eq_bigr => o _.
by rewrite mulrA.
Qed.

Lemma picked_step_verifier a res : test a -> law res -> verifier (picked_step a res).
Proof.
move=> t r_law o; have := emitted_law (s := Try (pick o) a (fun=> Draw res)).
by apply; split=> //; exact: picks.
Qed.

(** and what it accepts of its pick is accepted of the candidates, if only these are picked. *)
Lemma picked_step_acceptance a res :
    test a -> nonneg res -> (forall o x, x \notin candidates o -> pick o x = 0) ->
  mass (accepted_mass pick_law a) <= verifier_acceptance (picked_step a res).
Proof.
move=> t r_ge0 only; have [P_ge0 _] := P_law.
have -> : mass (accepted_mass pick_law a) = \sum_o P o * \sum_(x in candidates o) pick o x * a x.
  rewrite /mass (eq_bigr (fun x => \sum_o P o * (pick o x * a x))).
    rewrite exchange_big; apply: eq_bigr => o _; rewrite -mulr_sumr; congr (_ * _).
    rewrite [LHS](bigID (mem (candidates o))) /= [X in _ + X]big1 ?addr0 // => x not_in.
    by rewrite only ?mul0r.
  by move=> x _; rewrite /accepted_mass /pick_law mulr_suml; apply: eq_bigr => o _; rewrite mulrA.
apply: ler_sum => o _; apply: le_scale => //; apply: ler_sum => y _.
rewrite /picked_step step_law_mass.
have [pick_ge0 _] := picks o.
set rest := \sum_x _; suff rest_ge0 : 0 <= rest by rewrite /accepted_mass; linear rest_ge0.
apply: sumr_ge0 => x _; apply: mulr_ge0; last exact: r_ge0.
have /andP[_ a_le1] := t x; have h := le_scale (pick_ge0 x) a_le1.
by rewrite /accepted_mass; linear h.
Qed.

(** The canonical form is exact, however the candidates are drawn and the pick is made. *)
Theorem canonical_exact p : law p -> verifier_law (canonical p) =1 p.
Proof.
move=> p_law y; have s_law := pick_law_law.
have [t acc] := standard_test_accepts p_law s_law; rewrite picked_step_law.
apply: (step_exact_iff p s_law t (fun=> standard_residual_law _ p_law)).2.
exact: standard_criterion.
Qed.

Lemma canonical_verifier p : law p -> verifier (canonical p).
Proof.
move=> p_law; have [t _] := standard_test_accepts p_law pick_law_law.
exact: picked_step_verifier t (standard_residual_law _ p_law).
Qed.

(** If only candidates are picked, it accepts at least sum_x min(p x, s x). *)
Theorem canonical_acceptance p :
    law p -> (forall o x, x \notin candidates o -> pick o x = 0) ->
  \sum_x Num.min (p x) (pick_law x) <= verifier_acceptance (canonical p).
Proof.
move=> p_law only; have [t acc] := standard_test_accepts p_law pick_law_law.
have [r_ge0 _] := standard_residual_law pick_law p_law.
by have h := picked_step_acceptance t r_ge0 only; rewrite (mass_same acc) in h.
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
Theorem acceptance_upper_bound_independent (p : V -> R) emit (H : {set V}) :
    law q -> verifier emit -> verifier_law independent emit =1 p ->
  verifier_acceptance independent shown emit
  <= \sum_(y in H) p y + 1 - (\sum_(x in H) q x) ^+ K.
Proof.
move=> q_law emit_law exact_p; rewrite -independent_sum.
exact: (acceptance_upper_bound shown H (independent_law q_law) emit_law exact_p).
Qed.

End Independent.

Section Die.
Variable R : realFieldType.

(** In the example of die.v no exact verifier of K >= 1 candidates accepts more than 2/3; the
    published rule "accepts" 5/6 ([die_published_acceptance]). *)
Theorem die_bound K (emit : {ffun 'I_K.+1 -> 'I_3} -> 'I_3 -> R) :
    verifier emit -> verifier_law (independent (two_faces R) (K := K.+1)) emit =1 die R ->
  verifier_acceptance (independent (two_faces R) (K := K.+1)) (@shown _ K.+1) emit <= 2%:R / 3%:R.
Proof.
move=> emit_law exact_p.
have h := acceptance_upper_bound_independent [set x : 'I_3 | (x < 2)%N] (two_faces_law R)
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

Section Ranks.
Variables (R : realFieldType) (V : finType) (N K : nat).

(** T11. [0, 1] is cut into N + 1 intervals of lengths [size], in order, each owned by a token; q x is
    the total length that x owns. A candidate from q with a rank uniform on what it owns has its rank
    in interval j with probability [size j]. That is all that matters: two candidates with ranks in
    one interval are the same token. Outcomes are the intervals of the K + 1 candidates. *)
Variables (size : 'I_N.+1 -> R) (owner : 'I_N.+1 -> V).
Hypothesis size_law : law size.

(** The interval of the candidate with the largest rank; its token is the pick. *)
Definition winner (o : {ffun 'I_K.+1 -> 'I_N.+1}) : 'I_N.+1 := o [arg max_(i > ord0) (o i : nat)].
Definition rank_pick (o : {ffun 'I_K.+1 -> 'I_N.+1}) : V -> R := fun x => (owner (winner o) == x)%:R.
Definition tokens (o : {ffun 'I_K.+1 -> 'I_N.+1}) : {set V} := [set owner (o i) | i : 'I_K.+1].

(** Where interval j starts and ends. *)
Definition starts j : R := \sum_(i < N.+1 | (i < j)%N) size i.
Definition ends j : R := \sum_(i < N.+1 | (i <= j)%N) size i.

Lemma winner_le o (j : nat) : (winner o <= j)%N = (shown o \subset [set i : 'I_N.+1 | (i <= j)%N]).
Proof.
rewrite /winner; case: arg_maxnP => // i _ best; apply/idP/subsetP => [o_le y|].
- by move=> /imsetP[l _ ->]; rewrite inE; apply: leq_trans o_le; apply: best.
- by move=> /(_ (o i)); rewrite inE; apply; apply/imsetP; exists i.
Qed.

Lemma winner_at_most (j : nat) :
  \sum_(o | (winner o <= j)%N) independent size o = (\sum_(i < N.+1 | (i <= j)%N) size i) ^+ K.+1.
Proof.
rewrite (eq_bigl (fun o => shown o \subset [set i : 'I_N.+1 | (i <= j)%N])); last first.
  by move=> o; apply: winner_le.
by rewrite independent_sum; congr (_ ^+ _); apply: eq_bigl => i; rewrite inE.
Qed.

Lemma winner_law (j : 'I_N.+1) :
  \sum_(o | winner o == j) independent size o = ends j ^+ K.+1 - starts j ^+ K.+1.
Proof.
have split_at : \sum_(o | (winner o <= j)%N) independent size o =
    \sum_(o | winner o == j) independent size o + \sum_(o | (winner o < j)%N) independent size o.
  rewrite (bigID (fun o => winner o == j)) /=; congr (_ + _); apply: eq_bigl => o.
  - by rewrite andb_idl // => /eqP ->.
  - by rewrite ltn_neqAle andbC -val_eqE.
have before : \sum_(o | (winner o < j)%N) independent size o = starts j ^+ K.+1.
  rewrite /starts; case: (val j) => [|i]; last exact: winner_at_most.
  by rewrite big1 // big1 ?expr0n.
by rewrite -before /ends -winner_at_most split_at; arith.
Qed.

Let draws : {ffun 'I_K.+1 -> 'I_N.+1} -> R := @independent _ _ size K.+1.

(** The law of the pick: s x is the sum of b^K - a^K over the intervals [a, b] that x owns. *)
Theorem rank_law x :
  pick_law draws rank_pick x
  = \sum_(j | owner j == x) (ends j ^+ K.+1 - starts j ^+ K.+1).
Proof.
rewrite /pick_law /rank_pick (eq_bigr (fun o => if owner (winner o) == x then draws o else 0)).
  rewrite -big_mkcond (partition_big winner (fun j => owner j == x)) //=.
  apply: eq_bigr => j owned; rewrite -winner_law; apply: eq_bigl => o.
  by rewrite andb_idl // => /eqP ->.
by move=> o _; case: eqP => _; rewrite ?mulr1 ?mulr0.
Qed.

Lemma rank_pick_law o : law (rank_pick o).
Proof.
split=> [x|]; first exact: ler0n.
rewrite /mass (bigD1 (owner (winner o))) //= /rank_pick eqxx big1 ?addr0 // => x.
by rewrite eq_sym => /negbTE ->.
Qed.

(** T11. One speculative step against the law of the winner is exact, for every cut. *)
Theorem ranks_exact p :
  law p -> verifier_law draws (canonical draws rank_pick p) =1 p.
Proof.
by move=> p_law; apply: canonical_exact => //; [exact: independent_law | exact: rank_pick_law].
Qed.

(** And it accepts at least sum_x min(p x, s x). *)
Theorem ranks_acceptance p :
    law p ->
  \sum_x Num.min (p x) (pick_law draws rank_pick x)
  <= verifier_acceptance draws tokens (canonical draws rank_pick p).
Proof.
move=> p_law; apply: canonical_acceptance => //; [exact: independent_law | exact: rank_pick_law |].
move=> o x; rewrite /rank_pick; case: eqP => // <- /negP[].
by apply/imsetP; exists [arg max_(i > ord0) (o i : nat)].
Qed.

End Ranks.

Section Weights.
Variables (R : realFieldType) (V Omega : finType).

(** T12. Outcomes with any law P, each showing some candidates; the vocabulary in ordered classes,
    and a positive weight for every token. *)
Variables (P : Omega -> R) (candidates : Omega -> {set V}) (class : V -> nat) (weight : V -> R).
Hypotheses (P_law : law P) (some : forall o, candidates o != set0) (weight_gt0 : forall x, 0 < weight x).

(** The candidates of the highest class present, and the pick among them in proportion to weight. *)
Definition highest (o : Omega) (x : V) : bool :=
  (x \in candidates o) && [forall y in candidates o, (class y <= class x)%N].
Definition highest_weight o : V -> R := fun x => if highest o x then weight x else 0.
Definition weight_pick o : V -> R := fun x => highest_weight o x / mass (highest_weight o).

Lemma highest_weight_ge0 o : nonneg (highest_weight o).
Proof. by move=> x; rewrite /highest_weight; case: ifP => // _; apply: ltW. Qed.

Lemma highest_weight_mass o : mass (highest_weight o) != 0.
Proof.
have /set0Pn[x0 x0_in] := some o; apply/eqP => zero.
case: (arg_maxnP class x0_in) => x x_in best.
have := mass_zero (@highest_weight_ge0 o) zero x; rewrite /highest_weight /highest.
have -> : x \in candidates o by [].
have -> : [forall y in candidates o, (class y <= class x)%N] by apply/forall_inP.
by move=> /= wx; have := weight_gt0 x; rewrite wx ltxx.
Qed.

Lemma weight_pick_law o : law (weight_pick o).
Proof.
split=> [x|]; first by apply: divr_ge0; [exact: highest_weight_ge0 | exact/nonneg_mass/highest_weight_ge0].
by rewrite /mass -mulr_suml mulfV // highest_weight_mass.
Qed.

(** T12. One speculative step against the law of this pick is exact, for all classes and weights. *)
Theorem weights_exact p : law p -> verifier_law P (canonical P weight_pick p) =1 p.
Proof. by move=> p_law; apply: canonical_exact => //; exact: weight_pick_law. Qed.

(** And it accepts at least sum_x min(p x, s x). *)
Theorem weights_acceptance p :
    law p ->
  \sum_x Num.min (p x) (pick_law P weight_pick x)
  <= verifier_acceptance P candidates (canonical P weight_pick p).
Proof.
move=> p_law; apply: canonical_acceptance => //; first exact: weight_pick_law.
by move=> o x out; rewrite /weight_pick /highest_weight /highest (negbTE out) mul0r.
Qed.

End Weights.
