(** Recursive rejection (SpecInfer, MCSD, RSD, Sequoia) is exact, with and without replacement. *)
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
Fixpoint distinct_rejection q p k : rule R V :=
  match k with
  | 0 => Draw p
  | k'.+1 =>
    if mass q == 0 then Draw p else
    let q1 := normalise p q in
    Try q1 (standard_test p q1)
        (fun x => distinct_rejection (without x q) (standard_residual p q1) k')
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
Theorem distinct_rejection_exact q p k :
  law p -> nonneg q -> emitted (distinct_rejection q p k) =1 p.
Proof.
move=> p_law q_ge0; apply: chain_exact.
elim: k p q p_law q_ge0 => [|k IH] p q p_law q_ge0 //=.
case: eqP => // _; have q1_law := law_normalise p_law q_ge0.
exists (fun=> standard_residual p (normalise p q)); split; first exact: standard_criterion.
by move=> x; apply: IH; [apply: standard_residual_law | apply: without_ge0].
Qed.

(** And its candidates are distinct. *)
Theorem distinct_rejection_never_repeats q p k : never_repeats set0 (distinct_rejection q p k).
Proof.
have: forall x, x \in set0 -> q x = 0 by move=> x; rewrite inE.
elim: k p q set0 => [|k IH] p q seen zero //=.
case: eqP => //= mass_q; split=> [x x_seen|x].
- by rewrite /normalise; move/eqP/negbTE: mass_q => ->; rewrite zero // mul0r.
- apply: IH => y; rewrite !inE /without; case: eqP => //= _; exact: zero.
Qed.

End Recursive_rejection.
