(** Recursive rejection (SpecInfer, MCSD, RSD, Sequoia) is exact, with and without replacement;
    so are two rules of the same kind, target matching and K-SEQ. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Recursive_rejection.
Variables (R : realFieldType) (V : finType).
Implicit Types (p q a d : V -> R).

(** Accept x with probability min(1, p/q): the accepted mass is min(p, q), the residual target
    (p - q)+ normalised. *)
Definition standard_test p q : V -> R := test_of_mass q (minimum p q).
Definition standard_residual p q : V -> R := normalise p (floor p q).

(** k candidates, all from q. *)
Fixpoint recursive_rejection q p k : rule R V :=
  match k with
  | 0 => Draw p
  | k'.+1 => Try q (standard_test p q) (fun=> recursive_rejection q (standard_residual p q) k')
  end.

(** The weights q with the token x struck out. *)
Definition without x q : V -> R := fun y => if y == x then 0 else q y.

(** k distinct candidates: each is drawn from what is left of q, renormalised; when nothing is
    left, the residual is drawn at once. *)
Fixpoint rejection_without_replacement q p k : rule R V :=
  match k with
  | 0 => Draw p
  | k'.+1 =>
    if mass q == 0 then Draw p else
    let q1 := normalise p q in
    Try q1 (standard_test p q1)
        (fun x => rejection_without_replacement (without x q) (standard_residual p q1) k')
  end.

(** No candidate was rejected before (the set [seen]). *)
Fixpoint never_repeats (seen : {set V}) (s : rule R V) : Prop :=
  match s with
  | Draw d => True
  | Toss c s t => never_repeats seen s /\ never_repeats seen t
  | Try q a next => (forall x, x \in seen -> q x = 0) /\
                    forall x, never_repeats (x |: seen) (next x)
  end.

Lemma minimum_ge0 p q : law p -> law q -> nonneg (minimum p q).
Proof. by move=> [p_ge0 _] [q_ge0 _] x; apply: min_greatest. Qed.

Lemma standard_test_accepts p q :
  law p -> law q ->
  test (standard_test p q) /\ accepted_mass q (standard_test p q) =1 minimum p q.
Proof.
move=> p_law q_law; apply: test_of_mass_accepts; first exact: minimum_ge0.
by move=> x; apply: min_right.
Qed.

Lemma standard_criterion p q :
  law p -> law q -> criterion p q (accepted_mass q (standard_test p q)) (fun=> standard_residual p q).
Proof.
move=> p_law q_law; apply: split_criterion => //.
- exact: minimum_ge0.
- by move=> x; apply: min_right.
- exact: floor_ge0.
- exact: minimum_floor.
Qed.

Lemma standard_residual_law p q : law p -> law (standard_residual p q).
Proof. by move=> p_law; apply: law_normalise => //; apply: floor_ge0. Qed.

Lemma without_ge0 x q : nonneg q -> nonneg (without x q).
Proof. by move=> q_ge0 y; rewrite /without; case: eqP. Qed.

Lemma recursive_rejection_proper q p k : law p -> law q -> proper (recursive_rejection q p k).
Proof.
move=> p_law q_law; elim: k p p_law => [|k IH] p p_law //=.
have [t _] := standard_test_accepts p_law q_law.
by do 2!split=> //; move=> _; apply/IH/standard_residual_law.
Qed.

(** With replacement. *)
Theorem recursive_rejection_exact q p k :
  law p -> law q -> emitted (recursive_rejection q p k) =1 p.
Proof.
move=> p_law q_law; apply: chain_exact; elim: k p p_law => [|k IH] p p_law //=.
exists (fun=> standard_residual p q); split; first exact: standard_criterion.
by move=> _; apply/IH/standard_residual_law.
Qed.

(** Without replacement, also when the proposal runs out of tokens. *)
Theorem without_replacement_exact q p k :
  law p -> nonneg q -> emitted (rejection_without_replacement q p k) =1 p.
Proof.
move=> p_law q_ge0; apply: chain_exact.
elim: k p q p_law q_ge0 => [|k IH] p q p_law q_ge0 //=.
case: eqP => // _; have q1_law := law_normalise p_law q_ge0.
exists (fun=> standard_residual p (normalise p q)); split; first exact: standard_criterion.
by move=> x; apply: IH; [apply: standard_residual_law | apply: without_ge0].
Qed.

(** And its candidates are distinct. *)
Theorem without_replacement_never_repeats q p k : never_repeats set0 (rejection_without_replacement q p k).
Proof.
have: forall x, x \in set0 -> q x = 0 by move=> x; rewrite inE.
elim: k p q set0 => [|k IH] p q seen zero //=.
case: eqP => //= mass_q; split=> [x x_seen|x].
- by rewrite /normalise; move/eqP/negbTE: mass_q => ->; rewrite zero // mul0r.
- apply: IH => y; rewrite !inE /without; case: eqP => //= _; exact: zero.
Qed.

(** Target matching: accept x with probability p x; a rejected x is ruled out. *)
Fixpoint naive q p k : rule R V :=
  match k with
  | 0 => Draw p
  | k'.+1 => Try q p (fun x => naive q (normalise p (without x p)) k')
  end.

Theorem naive_exact q p k : law p -> law q -> emitted (naive q p k) =1 p.
Proof.
move=> p_law [q_ge0 q_mass]; apply: chain_exact; elim: k p p_law => [|k IH] p p_law //=.
have [p_ge0 p_mass] := p_law; exists (fun x => normalise p (without x p)); split; last first.
  by move=> x; apply/IH/law_normalise => //; apply: without_ge0.
have open_mass x : mass (without x p) = 1 - p x.
  rewrite -p_mass /mass [in RHS](bigD1 x) //= (bigD1 x) //= /without eqxx add0r.
  have -> : \sum_(i | i != x) (if i == x then 0 else p i) = \sum_(i | i != x) p i.
    by apply: eq_bigr => i /negbTE ->.
  arith.
split=> y.
- by have h := le_scale (p_ge0 y) (law_le_1 y (conj q_ge0 q_mass)); rewrite /accepted_mass; linear h.
- rewrite (eq_bigr (fun x => q x * without x p y)).
    rewrite -[p y]mulr1 -q_mass /mass mulr_sumr (bigD1 y) //= [in RHS](bigD1 y) //=.
    rewrite /without eqxx (eq_bigr (fun x => p y * q x)); last first.
      by move=> x /negbTE; rewrite eq_sym => ->; arith.
    by rewrite /accepted_mass; arith.
  move=> x _; rewrite -(mass_normalise p y (without_ge0 x p_ge0)) open_mass /accepted_mass.
  arith.
Qed.

(** K-SEQ: the same accepted mass m = min(p / rho, q) for all k candidates. *)
Fixpoint constant_mass m q p k : rule R V :=
  match k with
  | 0 => Draw p
  | k'.+1 => Try q (test_of_mass q m) (fun=> constant_mass m q (normalise p (floor p m)) k')
  end.
Definition k_seq_mass rho p q : V -> R := minimum (fun x => p x / rho) q.
Definition k_seq rho q p k : rule R V := constant_mass (k_seq_mass rho p q) q p k.

(** 1 + (1 - b) + ... + (1 - b)^(k-1): how often a candidate is looked at, on average. *)
Fixpoint looks (b : R) k : R := if k is k'.+1 then 1 + (1 - b) * looks b k' else 0.

Lemma looks_sum b k : looks b k * b = 1 - (1 - b) ^+ k.
Proof.
elim: k => [|k IH] /=; first by rewrite expr0; arith.
by rewrite exprS; from (1 - b) IH.
Qed.

Lemma looks_up b k : 0 <= 1 - b -> 0 <= looks b k /\ looks b k <= looks b k.+1.
Proof.
move=> b_le1; elim: k => [|k [IH0 IH]] /=; first by rewrite mulr0 addr0 lexx ler01.
split; first by rewrite addr_ge0 ?ler01 ?mulr_ge0.
by have h := le_scale b_le1 IH; rewrite /= in h; linear h.
Qed.

Lemma constant_mass_exact m q p k :
    law p -> law q -> nonneg m -> below m q -> (forall x, looks (mass m) k * m x <= p x) ->
  emitted (constant_mass m q p k) =1 p.
Proof.
move=> p_law q_law m_ge0 mq enough; apply: chain_exact.
have b_le1 : 0 <= 1 - mass m by rewrite subr_ge0; case: q_law => _ <-; apply: mass_below.
elim: k p p_law enough => [|k IH] p p_law enough //=.
have [L_ge0 L_up] := looks_up k b_le1.
have mp x : m x <= p x.
  apply: le_trans (enough x) => /=.
  by have h := mulr_ge0 (mulr_ge0 b_le1 L_ge0) (m_ge0 x); linear h.
have left x : floor p m x = p x - m x by apply: max_eq_l; rewrite subr_ge0.
exists (fun=> normalise p (floor p m)); split.
  apply: split_criterion => //; first exact: floor_ge0.
  by move=> x; rewrite left; arith.
move=> _; apply: IH; first by apply: law_normalise => //; exact: floor_ge0.
move=> x; have [b1|b_neq1] := eqVneq (mass (floor p m)) 0.
  rewrite /normalise b1 eqxx; apply: le_trans (enough x).
  by have h := le_scale (m_ge0 x) L_up; linear h.
have b_mass : mass (floor p m) = 1 - mass m.
  by rewrite (mass_same left) mass_minus; case: p_law => _ ->.
rewrite b_mass in b_neq1; rewrite /normalise b_mass (negbTE b_neq1) left.
have inv_ge0 : 0 <= (1 - mass m)^-1 by rewrite invr_ge0.
have inv : (1 - mass m) * (1 - mass m)^-1 = 1 by rewrite mulfV.
have h := le_scale inv_ge0 (enough x); rewrite /= in h.
have e : (1 - mass m)^-1 * ((1 + (1 - mass m) * looks (mass m) k) * m x) =
         (1 - mass m)^-1 * m x + looks (mass m) k * m x by from (looks (mass m) k * m x) inv.
by rewrite e in h; linear h.
Qed.

Lemma constant_mass_proper m q p k :
  law p -> law q -> nonneg m -> below m q -> proper (constant_mass m q p k).
Proof.
move=> p_law q_law m_ge0 mq; have [t _] := test_of_mass_accepts m_ge0 mq.
elim: k p p_law => [|k IH] p p_law //=; do 2!split=> //.
by move=> _; apply/IH/law_normalise => //; exact: floor_ge0.
Qed.

(** K-SEQ is exact for every rho with rho beta >= 1 - (1 - beta)^K, beta = |min(p / rho, q)|. *)
Theorem k_seq_exact rho q p k :
    law p -> law q -> 0 < rho ->
    (let beta := mass (k_seq_mass rho p q) in 1 - (1 - beta) ^+ k <= rho * beta) ->
  emitted (k_seq rho q p k) =1 p.
Proof.
move=> p_law q_law rho_gt0 /=; have [p_ge0 _] := p_law; have [q_ge0 _] := q_law.
rewrite /k_seq; set m := k_seq_mass rho p q => enough; have inv_ge0 : 0 <= rho^-1 by rewrite invr_ge0 ltW.
have m_ge0 : nonneg m by move=> x; apply: min_greatest => //; apply: mulr_ge0.
apply: constant_mass_exact => //; first by move=> x; apply: min_right.
move=> x; have [b0|b_neq0] := eqVneq (mass m) 0.
  by rewrite (mass_zero m_ge0 b0) mulr0.
have b_gt0 : 0 < mass m by rewrite lt_neqAle eq_sym b_neq0 nonneg_mass.
have looks_le : looks (mass m) k <= rho.
  have v_ge0 : 0 <= (mass m)^-1 by rewrite invr_ge0 ltW.
  by have h := le_scale v_ge0 enough; rewrite -looks_sum ![(mass m)^-1 * _]mulrC !mulfK // in h.
apply: le_trans (_ : rho * m x <= _); first by have h := le_scale (m_ge0 x) looks_le; linear h.
have h := le_scale (ltW rho_gt0) (min_left (p x / rho) (q x)).
have rv : rho * rho^-1 = 1 by rewrite mulfV // gt_eqF.
have e : rho * (p x / rho) = p x by from (p x) rv.
by rewrite e in h.
Qed.

End Recursive_rejection.
