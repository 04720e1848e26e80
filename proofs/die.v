(** T4, the smallest example: with a fair three-sided die and a draft that knows two of its faces,
    the published step emits (19/42, 19/42, 4/42). *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain recursive_rejection no_free_lunch.
From resispec Require Import published.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Three_sided_die.
Variable R : realFieldType.

Definition die : 'I_3 -> R := fun=> 3%:R^-1.
Definition two_faces : 'I_3 -> R := fun x => if (x < 2)%N then 2%:R^-1 else 0.

Definition face0 : 'I_3 := @Ordinal 3 0 isT.
Definition face1 : 'I_3 := @Ordinal 3 1 isT.
Definition face2 : 'I_3 := @Ordinal 3 2 isT.

(** All numbers in it are multiples of t = 1/42; a = 1/2. *)
Let t : R := 42%:R^-1.
Let a : R := 2%:R^-1.
Lemma nat_neq0 n : n.+1%:R != 0 :> R. Proof. by rewrite pnatr_eq0. Qed.
Lemma t42 : 42%:R * t = 1. Proof. by rewrite mulfV // nat_neq0. Qed.
Lemma a2 : 2%:R * a = 1. Proof. by rewrite mulfV // nat_neq0. Qed.
Lemma third : 3%:R^-1 = 14%:R * t.
Proof.
have b3 : 3%:R * 3%:R^-1 = 1 :> R by rewrite mulfV // nat_neq0.
have e : 3%:R^-1 * (42%:R * t) = 14%:R * t * (3%:R * 3%:R^-1) by arith.
by rewrite t42 b3 !mulr1 in e.
Qed.
Lemma half : a = 21%:R * t.
Proof. by have e : a * (42%:R * t) = 21%:R * t * (2%:R * a) by [arith]; rewrite t42 a2 !mulr1 in e. Qed.
Lemma t_ge0 : 0 <= t. Proof. by rewrite invr_ge0 ler0n. Qed.
Lemma a_ge0 : 0 <= a. Proof. by rewrite invr_ge0 ler0n. Qed.
Lemma ta_ge0 : 0 <= t * a. Proof. by apply: mulr_ge0; [exact: t_ge0 | exact: a_ge0]. Qed.

Lemma sum3 (F : 'I_3 -> R) : \sum_x F x = F face0 + F face1 + F face2.
Proof.
rewrite !big_ord_recl big_ord0 addr0 addrA.
by congr (F _ + F _ + F _); apply: val_inj.
Qed.

Lemma all3 (P : 'I_3 -> Prop) : P face0 -> P face1 -> P face2 -> forall x, P x.
Proof.
move=> h0 h1 h2 [[|[|[|//]]] x_lt].
- by have <- : face0 = Ordinal x_lt by apply: val_inj.
- by have <- : face1 = Ordinal x_lt by apply: val_inj.
- by have <- : face2 = Ordinal x_lt by apply: val_inj.
Qed.

Lemma die_law : law die.
Proof.
split=> [x|]; first by rewrite invr_ge0 ler0n.
by rewrite /mass sum3 /die third; from (1 : R) t42.
Qed.

Lemma two_faces_law : law two_faces.
Proof.
split=> [x|]; first by rewrite /two_faces; case: ifP => _; rewrite ?invr_ge0 ?ler0n.
by rewrite /mass sum3 /two_faces /= -/a; from (1 : R) a2.
Qed.

(** After rejecting face 0 or face 1, GetProxy reserves 5/42 on the other one and 2/42 on face 2. *)
Lemma die_reserved (x y : 'I_3) :
  (x < 2)%N -> proportional die two_faces x y = if y == x then 0 else if (y < 2)%N then 5%:R * t else 2%:R * t.
Proof.
move=> x_lt2; have Z : budget die two_faces x = 7%:R * t.
  by rewrite /budget /two_faces /die x_lt2 third -/a half; arith.
have clip z : clipped_shape die two_faces x z =
    if z == x then 0 else if (z < 2)%N then 7%:R * (t * a) else 0.
  rewrite /clipped_shape Z /two_faces /die third -/a; case: eqP => // _; case: ifP => _.
  - rewrite min_eq_l; first by arith.
    have e : 14%:R * t = 28%:R * (t * a) by from (- (14%:R * t)) a2.
    have n_ge0 : 0 <= 21%:R :> R by rewrite ler0n.
    by rewrite e; have h := le_scale n_ge0 ta_ge0; linear h.
  - by rewrite mulr0; apply: min_eq_l; rewrite mulr_ge0 ?ler0n ?t_ge0.
have room_x z : room die two_faces x z =
    if z == x then 0 else if (z < 2)%N then 21%:R * (t * a) else 28%:R * (t * a).
  have e : 14%:R * t = 28%:R * (t * a) by from (- (14%:R * t)) a2.
  rewrite /room clip /die third e; case: eqP => // _; case: ifP => _; arith.
have sums (f1 f2 : R) : \sum_z (if z == x then 0 else if (z < 2)%N then f1 else f2) = f1 + f2.
  move: x_lt2 {Z clip room_x}; rewrite sum3; move: x; apply: all3 => //= _; arith.
have lost_x : lost die two_faces x = 7%:R * (t * a).
  rewrite /lost Z /mass (eq_bigr _ (fun z _ => clip z)) sums.
  by from (7%:R * t) (esym a2).
have room_mass : mass (room die two_faces x) = 49%:R * (t * a).
  by rewrite /mass (eq_bigr _ (fun z _ => room_x z)) sums; arith.
have room_inv : (49%:R * (t * a))^-1 = 72%:R * t.
  have e : 49%:R * (t * a) * (72%:R * t) = (2%:R * a) * ((42%:R * t) * (42%:R * t)) by arith.
  rewrite a2 t42 !mulr1 in e.
  have nz : 49%:R * (t * a) != 0 by apply/eqP => z; move/eqP: e; rewrite z mul0r eq_sym oner_eq0.
  by apply: (mulfI nz); rewrite e mulfV.
have tta : 42%:R * (t * (t * a)) = t * a by from (t * a) t42.
have ta : 2%:R * (t * a) = t by from t a2.
rewrite /proportional clip lost_x room_x room_mass room_inv.
case: eqP => _; first by arith.
case: ifP => _.
- have -> : 7%:R * (t * a) + 7%:R * (t * a) * (21%:R * (t * a) * (72%:R * t)) =
      7%:R * (t * a) + 3%:R * (2%:R * a) * (42%:R * (t * (t * a))) * (42%:R * t) by arith.
  by rewrite a2 tta t42; from (5%:R : R) ta.
- have -> : 0 + 7%:R * (t * a) * (28%:R * (t * a) * (72%:R * t)) =
      4%:R * (2%:R * a) * (42%:R * (t * (t * a))) * (42%:R * t) by arith.
  by rewrite a2 tta t42; from (2%:R : R) ta.
Qed.

Lemma die_spreads x : 0 < budget die two_faces x -> spreads die two_faces x (proportional die two_faces x).
Proof. by apply: proportional_spreads; [exact: die_law | exact: two_faces_law]. Qed.

Lemma die_lt : (die face0 < two_faces face0) /\ (die face1 < two_faces face1).
Proof.
suff h : 3%:R^-1 < 2%:R^-1 :> R by [].
have t_gt0 : 0 < t by rewrite invr_gt0 ltr0n.
have h : 0 < 7%:R * t by rewrite mulr_gt0 // ltr0n.
by rewrite third -/a half; linear h.
Qed.

Lemma die_minimum x : minimum die two_faces x = if (x < 2)%N then 14%:R * t else 0.
Proof.
have [lt0 _] := die_lt; rewrite /minimum /two_faces; case: ifP => _.
- by rewrite -third; apply: min_eq_l; apply: ltW.
- by apply: min_eq_r; rewrite invr_ge0 ler0n.
Qed.

Lemma rejectable (F : 'I_3 -> R) : \sum_(x | die x < two_faces x) F x = F face0 + F face1.
Proof.
have [lt0 lt1] := die_lt; rewrite big_mkcond sum3 lt0 ?lt1 /= ltNge invr_ge0 ler0n /=; arith.
Qed.

(** T4. The law that one published step emits. *)
Theorem die_published_law :
  [/\ published_law die two_faces face0 = 19%:R / 42%:R,
      published_law die two_faces face1 = 19%:R / 42%:R &
      published_law die two_faces face2 = 4%:R / 42%:R].
Proof.
have law_at y : published_law die two_faces y = minimum die two_faces y
    + (proportional die two_faces face0 y + proportional die two_faces face1 y).
  rewrite /published_law (published_law_sum _ die_law two_faces_law); last exact: die_spreads.
  by rewrite rejectable.
by split; rewrite law_at die_minimum !die_reserved //= -/t; arith.
Qed.

(** T4. So Algorithm 1 as printed is not exact. *)
Theorem algorithm_1_not_exact : ~ (published_law die two_faces =1 die).
Proof.
have [lt0 lt1] := die_lt; move=> exact_p.
suff : die face1 < published_law die two_faces face1 by rewrite exact_p ltxx.
apply: (published_not_exact (x := face0) die_law two_faces_law die_spreads) => //.
- by rewrite invr_gt0 ltr0n.
- exact: ltW.
Qed.

(** Its total variation distance from the target. *)
Theorem die_total_variation : total_variation (published_law die two_faces) die = 5%:R / 21%:R.
Proof.
have [e0 e1 e2] := die_published_law; rewrite /total_variation sum3 e0 e1 e2 /die third -/t -/a.
have -> : 19%:R * t - 14%:R * t = 5%:R * t by arith.
have -> : 4%:R * t - 14%:R * t = - (10%:R * t) by arith.
rewrite normrN !ger0_norm ?mulr_ge0 ?ler0n ?t_ge0 //.
have v21 : 21%:R * 21%:R^-1 = 1 :> R by rewrite mulfV // nat_neq0.
have -> : 21%:R^-1 = 2%:R * t :> R.
  have e : 21%:R^-1 * (42%:R * t) = 2%:R * t * (21%:R * 21%:R^-1) by arith.
  by rewrite t42 v21 !mulr1 in e.
by from (10%:R * t) a2.
Qed.

(** The published rule with two candidates: the residual of the first rejection is verified once
    more with min(1, p/q), and what is drawn last does not matter for acceptance. *)
Definition published_two (last : 'I_3 -> 'I_3 -> R) :=
  Try two_faces (standard_test die two_faces) (fun x =>
    let r := residual_of_proxy die (get_proxy die two_faces x) in
    Try two_faces (standard_test r two_faces) (fun=> Draw (last x))).

(** Its acceptance rate in the example is 5/6, above the bound 2/3 for exact verifiers (see
    [die_bound] in optimal.v): it buys acceptance with bias. *)
Theorem die_published_acceptance last : acceptance_rate (published_two last) = 5%:R / 6%:R.
Proof.
have [_ acc] := standard_test_accepts die_law two_faces_law.
rewrite /published_two acceptance_rate_try (mass_same acc).
pose r x := residual_of_proxy die (get_proxy die two_faces x).
have r_law x : law (r x) by apply: law_normalise; [exact: die_law | exact: floor_ge0].
have second x : acceptance_rate (Try two_faces (standard_test (r x) two_faces) (fun=> Draw (last x)))
    = mass (minimum (r x) two_faces).
  have [_ acc2] := standard_test_accepts (r_law x) two_faces_law.
  rewrite acceptance_rate_try (mass_same acc2) big1 ?addr0 // => y _.
  by rewrite acceptance_rate_draw mulr0.
have ta : 2%:R * (t * a) = t by from t a2.
have rejected x : 0 < budget die two_faces x ->
    (two_faces x - minimum die two_faces x) * mass (minimum (r x) two_faces) =
    \sum_y Num.min (proportional die two_faces x y) (budget die two_faces x * two_faces y).
  move=> Z_gt0; have fp y : floor die (get_proxy die two_faces x) y = proportional die two_faces x y.
    by apply: floor_proxy; [exact: die_law | exact: two_faces_law | | exact: die_spreads].
  have [_ _ mass_r] := die_spreads Z_gt0.
  have mass_f : mass (floor die (get_proxy die two_faces x)) = budget die two_faces x.
    by rewrite (mass_same fp).
  have -> : two_faces x - minimum die two_faces x = budget die two_faces x.
    by rewrite /budget /minimum min_eq_l //; rewrite /budget subr_gt0 in Z_gt0; exact: ltW.
  rewrite -mass_f /mass mulr_sumr; apply: eq_bigr => y _.
  by rewrite (scaled_minimum die two_faces y (floor_ge0 _ _)) fp.
have [lt0 lt1] := die_lt.
have Z_gt0 (x : 'I_3) : (x < 2)%N -> 0 < budget die two_faces x.
  by rewrite /budget subr_gt0 /two_faces => ->; exact: lt0.
have Z (x : 'I_3) : (x < 2)%N -> budget die two_faces x = 7%:R * t.
  by move=> x_lt2; rewrite /budget /two_faces /die x_lt2 third -/a half; arith.
have min0 : Num.min 0 (7%:R * t * a) = 0 by apply: min_eq_l; rewrite !mulr_ge0 ?ler0n ?t_ge0 ?a_ge0.
have min5 : Num.min (5%:R * t) (7%:R * t * a) = 7%:R * (t * a).
  rewrite min_eq_r; first by arith.
  by rewrite -[in leRHS]ta; have h := le_scale (ler0n R 3) ta_ge0; rewrite mulr0 in h; linear h.
have min2 : Num.min (2%:R * t) 0 = 0 :> R by apply: min_eq_r; rewrite mulr_ge0 ?ler0n ?t_ge0.
have rejected0 : two_faces face2 - minimum die two_faces face2 = 0.
  by rewrite die_minimum /two_faces /= subrr.
rewrite sum3 !acc -/(r _) !second rejected0 mul0r addr0 !rejected ?Z_gt0 //.
rewrite /mass !sum3 !die_minimum !Z // !die_reserved //= -/a mulr0 min0 min5 min2.
have v6 : 6%:R * 6%:R^-1 = 1 :> R by rewrite mulfV // nat_neq0.
have -> : 6%:R^-1 = 7%:R * t :> R.
  have e : 6%:R^-1 * (42%:R * t) = 7%:R * t * (6%:R * 6%:R^-1) by arith.
  by rewrite t42 v6 !mulr1 in e.
by from (7%:R : R) ta.
Qed.

End Three_sided_die.
