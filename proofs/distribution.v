(** Laws on a finite vocabulary, with values in an arbitrary real field. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Distribution.
Variables (R : realFieldType) (V : finType).
Implicit Types (f g p q d : V -> R).

(** |f|, the total mass. *)
Definition mass f : R := \sum_x f x.

Definition nonneg f := forall x, 0 <= f x.

(** A law: non-negative, total mass 1. *)
Definition law f := nonneg f /\ mass f = 1.

(** f <= g at every token. *)
Definition below f g := forall x, f x <= g x.

Definition minimum f g : V -> R := fun x => Num.min (f x) (g x).

(** (p - q)+, the least residual mass that an exact step can reserve. *)
Definition floor p q : V -> R := fun x => Num.max (p x - q x) 0.

(** Total variation distance. *)
Definition total_variation f g : R := 2%:R^-1 * \sum_x `|f x - g x|.

(** f / |f|; where |f| = 0 there is nothing to draw from and the stand-in d is returned,
    on branches that have probability 0. *)
Definition normalise d f : V -> R := fun x => if mass f == 0 then d x else f x / mass f.

Lemma nonneg_mass f : nonneg f -> 0 <= mass f.
Proof. by move=> f_ge0; apply: sumr_ge0 => x _. Qed.

Lemma mass_below f g : below f g -> mass f <= mass g.
Proof. by move=> fg; apply: ler_sum => x _. Qed.

Lemma mass_plus f g : mass (fun x => f x + g x) = mass f + mass g.
Proof. by rewrite /mass big_split. Qed.

Lemma mass_minus f g : mass (fun x => f x - g x) = mass f - mass g.
Proof. by rewrite /mass sumrB. Qed.

Lemma mass_scale k f : mass (fun x => k * f x) = k * mass f.
Proof. by rewrite /mass mulr_sumr. Qed.

Lemma mass_same f g : f =1 g -> mass f = mass g.
Proof. by move=> fg; apply: eq_bigr => x _. Qed.

Lemma mass_point y f : \sum_x f x * (x == y)%:R = f y.
Proof.
rewrite (bigD1 y) //= eqxx mulr1 big1 ?addr0 // => x /negbTE ->.
by rewrite mulr0.
Qed.

Lemma mass_zero f : nonneg f -> mass f = 0 -> forall x, f x = 0.
Proof. by move=> f_ge0 f0 x; apply: (psumr_eq0P _ f0). Qed.

Lemma below_same_mass f g : below f g -> mass f = mass g -> f =1 g.
Proof.
move=> fg fg_mass x; apply/esym/eqP; rewrite -subr_eq0; apply/eqP.
apply: (mass_zero (f := fun x => g x - f x)); first by move=> y; rewrite subr_ge0.
by rewrite mass_minus fg_mass subrr.
Qed.

Lemma law_le_1 p x : law p -> p x <= 1.
Proof.
case=> p_ge0 <-; rewrite /mass (bigD1 x) //= -subr_ge0.
have -> : p x + \sum_(i | i != x) p i - p x = \sum_(i | i != x) p i by arith.
by apply: sumr_ge0.
Qed.

Lemma law_normalise d f : law d -> nonneg f -> law (normalise d f).
Proof.
move=> [d_ge0 d_mass] f_ge0; rewrite /normalise; have m_ge0 := nonneg_mass f_ge0.
split; case: eqVneq => [//|m_neq0].
- by move=> x; apply: divr_ge0.
- by rewrite /mass -mulr_suml mulfV.
Qed.

(** Scaling back: |f| (f / |f|) = f, also when |f| = 0. *)
Lemma mass_normalise d f x : nonneg f -> mass f * normalise d f x = f x.
Proof.
move=> f_ge0; rewrite /normalise; case: eqVneq => [f0|m_neq0].
- by rewrite f0 mul0r (mass_zero f_ge0 f0).
- by rewrite mulrC mulfVK.
Qed.

Lemma normalise_scale d f k : k != 0 -> normalise d (fun x => f x / k) =1 normalise d f.
Proof.
move=> k_neq0 x; rewrite /normalise.
have -> : mass (fun x => f x / k) = mass f / k by rewrite /mass -mulr_suml.
rewrite mulf_eq0 invr_eq0 (negbTE k_neq0) orbF; case: eqP => // _.
have kv : k * k^-1 = 1 by rewrite mulfV.
by rewrite invfM invrK; from (f x * (mass f)^-1) kv.
Qed.

Lemma floor_ge0 p q : nonneg (floor p q).
Proof. by move=> x; apply: max_right. Qed.

(** min(p, q) + (p - q)+ = p. *)
Lemma minimum_floor p q x : minimum p q x + floor p q x = p x.
Proof.
rewrite /minimum /floor; case: (leP (p x) (q x)) => pq.
- by rewrite max_eq_r ?addr0 // subr_le0.
- by rewrite max_eq_l ?subr_ge0 ?ltW //; arith.
Qed.

Lemma mass_floor p q : law p -> mass (floor p q) = 1 - mass (minimum p q).
Proof.
case=> _ <-; rewrite -(mass_same (minimum_floor p q)) mass_plus; arith.
Qed.

End Distribution.
