(** T1 and T2: when one accept-or-reject step preserves its target. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Step.
Variables (R : realFieldType) (V : finType).
Implicit Types (p q a m r d c : V -> R) (res : V -> V -> R).

(** One step: draw x from the proposal q; with probability a x accept and emit x; otherwise
    emit a token from the residual target [res x]. The law of what is emitted: *)
Definition step_law q a res : V -> R :=
  fun y => \sum_x q x * (a x * (x == y)%:R + (1 - a x) * res x y).

(** An acceptance test: a probability for every token. *)
Definition test a := forall x, 0 <= a x <= 1.

(** The test that accepts the mass m of the proposal q, and the mass that a test accepts. *)
Definition test_of_mass q m : V -> R := fun x => m x / q x.
Definition accepted_mass q a : V -> R := fun x => q x * a x.

(** The criterion (E) for the accepted mass m and the residuals [res]. *)
Definition criterion p q m res :=
  below m p /\ forall y, \sum_x (q x - m x) * res x y = p y - m y.

(** What can be reserved: between the floor (p - q)+ and the ceiling p, condition (F). *)
Definition between_floor_and_ceiling p q r := below (floor p q) r /\ below r p.

(** Emitted law = accepted mass + what the residuals put on the rejected mass. *)
Lemma step_law_mass q a res y :
  step_law q a res y = accepted_mass q a y + \sum_x (q x - accepted_mass q a x) * res x y.
Proof.
rewrite /step_law /accepted_mass -(mass_point y (fun x => q x * a x)) -big_split /=.
apply: eq_bigr => x _; arith.
Qed.

(** T1. A step preserves the target p if and only if (E) holds. *)
Theorem step_exact_iff p q a res :
    law q -> test a -> (forall x, law (res x)) ->
  (forall y, step_law q a res y = p y) <-> criterion p q (accepted_mass q a) res.
Proof.
move=> [q_ge0 _] a_test res_law; split=> [exact_p | [_ E] y]; last first.
  by rewrite step_law_mass E; arith.
split=> y; last by rewrite -exact_p step_law_mass; arith.
rewrite -exact_p step_law_mass -subr_ge0.
set s := \sum_x _; have -> : accepted_mass q a y + s - accepted_mass q a y = s by arith.
apply: sumr_ge0 => x _; have [res_ge0 _] := res_law x; have /andP[_ a_le1] := a_test x.
apply: mulr_ge0 => //; have -> : q x - accepted_mass q a x = q x * (1 - a x).
  by rewrite /accepted_mass; arith.
by apply: mulr_ge0; rewrite ?subr_ge0.
Qed.

(** Any mass 0 <= m <= q is the accepted mass of a test, a = m / q. *)
Lemma test_of_mass_accepts q m :
  nonneg m -> below m q ->
  test (test_of_mass q m) /\ accepted_mass q (test_of_mass q m) =1 m.
Proof.
move=> m_ge0 mq; rewrite /accepted_mass /test_of_mass; split=> x.
- have q_ge0 : 0 <= q x by apply: le_trans (mq x).
  have [q0|q_neq0] := eqVneq (q x) 0; first by rewrite q0 invr0 mulr0 lexx ler01.
  rewrite divr_ge0 //= -subr_ge0.
  have -> : 1 - m x / q x = (q x - m x) / q x by rewrite mulrBl mulfV.
  by rewrite divr_ge0 // subr_ge0.
- have [q0|q_neq0] := eqVneq (q x) 0; last by rewrite mulrC mulfVK.
  rewrite q0 mul0r; apply: eq_of_le; rewrite ?m_ge0 // -q0 //.
Qed.

(** T2, first part. If the residual does not depend on the rejected token and something can be
    rejected, (E) determines it: it is (p - m) / (1 - |m|). *)
Theorem memoryless_residual p q m r :
    law q -> mass m != 1 -> criterion p q m (fun=> r) ->
  forall y, r y = (p y - m y) / (1 - mass m).
Proof.
move=> [_ q_mass] m_neq1 [_ E] y.
have mass_left : \sum_x (q x - m x) = 1 - mass m by rewrite -q_mass -mass_minus.
by rewrite -E -mulr_suml mass_left mulrC mulKf // subr_eq0 eq_sym.
Qed.

(** T2, second part. Every 0 <= m <= min(p, q) gives an exact step with that residual. *)
Theorem memoryless_exact p q m d :
    law p -> law q -> nonneg m -> below m (minimum p q) ->
  forall y, step_law q (test_of_mass q m) (fun=> normalise d (fun x => p x - m x)) y = p y.
Proof.
move=> [_ p_mass] [_ q_mass] m_ge0 m_le y.
have mp x : m x <= p x by apply: (le_trans (m_le x) (min_left _ _)).
have mq x : m x <= q x by apply: (le_trans (m_le x) (min_right _ _)).
have [_ acc] := test_of_mass_accepts m_ge0 mq.
rewrite step_law_mass acc (eq_bigr (fun x => (q x - m x) * normalise d (fun x => p x - m x) y));
  last by move=> x _; rewrite acc.
have mass_left : \sum_x (q x - m x) = mass (fun x => p x - m x).
  by rewrite mass_minus p_mass -q_mass -mass_minus.
rewrite -mulr_suml mass_left mass_normalise; first by arith.
by move=> x; rewrite subr_ge0.
Qed.

(** The same for any split p = m + r: accept the mass m, continue with r / |r|. *)
Lemma split_criterion p q m r d :
    law p -> law q -> nonneg m -> below m q -> nonneg r -> (forall x, m x + r x = p x) ->
  criterion p q (accepted_mass q (test_of_mass q m)) (fun=> normalise d r).
Proof.
move=> [_ p_mass] [_ q_mass] m_ge0 mq r_ge0 split_p.
have [_ acc] := test_of_mass_accepts m_ge0 mq; split=> y; rewrite acc -split_p.
  by have h := r_ge0 y; linear h.
rewrite (eq_bigr (fun x => (q x - m x) * normalise d r y)); last by move=> x _; rewrite acc.
have mass_left : \sum_x (q x - m x) = mass r.
  by rewrite sumrB [\sum_x q x]q_mass -p_mass -(mass_same split_p) mass_plus; rewrite /mass; arith.
by rewrite -mulr_suml mass_left mass_normalise //; arith.
Qed.

(** T2, third part. For r = p - m, "0 <= m <= min(p, q)" says that r lies between the floor
    (p - q)+ and the ceiling p. *)
Theorem floor_ceiling_iff p q r :
  between_floor_and_ceiling p q r <->
  (forall x, 0 <= p x - r x <= minimum p q x).
Proof.
split=> [[floor_r r_ceiling] x | bounds].
- rewrite subr_ge0 r_ceiling /=; have := minimum_floor p q x.
  by have := floor_r x; move=> fr mf; rewrite -mf; linear fr.
- split=> x; have /andP[] := bounds x; rewrite subr_ge0 // => _ h.
  by have mf := minimum_floor p q x; rewrite -mf in h; linear h.
Qed.

(** T2, in the form used below. Whatever r between floor and ceiling is reserved, the step that
    accepts the mass p - r and continues with the residual target r / |r| is exact. *)
Theorem floor_ceiling_exact p q r d :
    law p -> law q -> between_floor_and_ceiling p q r ->
  forall y, step_law q (test_of_mass q (fun x => p x - r x)) (fun=> normalise d r) y = p y.
Proof.
move=> p_law q_law /floor_ceiling_iff bounds y.
have m_ge0 : nonneg (fun x => p x - r x) by move=> x; case/andP: (bounds x).
have m_le : below (fun x => p x - r x) (minimum p q) by move=> x; case/andP: (bounds x).
rewrite -[RHS](memoryless_exact d p_law q_law m_ge0 m_le y); apply: eq_bigr => x _.
congr (_ * (_ + _ * _)).
have same z : p z - (p z - r z) = r z by arith.
by rewrite /normalise (mass_same same) same.
Qed.

End Step.
