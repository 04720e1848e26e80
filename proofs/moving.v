(** T18: targets that depend on the candidate. What such a step emits; the published ResiSpec, Cactus
    and reflective verification as members. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain recursive_rejection published die.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Moving.
Variables (R : realFieldType) (V : finType).
Implicit Types (p q g height : V -> R) (h spread : V -> V -> R).

(** Every candidate x has a target h x of its own: accept x with probability min(1, h x x / q x), else
    draw from (h x - q)+. *)
Definition moving_law q h : V -> R :=
  step_law q (fun x => standard_test (h x) q x) (fun x => standard_residual (h x) q).

(** T18. The emitted law. *)
Theorem moving_target_law q h y :
    law q -> (forall x, law (h x)) ->
  moving_law q h y
  = Num.min (q y) (h y y) + \sum_x Num.max (q x - h x x) 0 * standard_residual (h x) q y.
Proof.
move=> q_law h_law; rewrite /moving_law step_law_mass.
have acc x : accepted_mass q (fun z => standard_test (h z) q z) x = Num.min (h x x) (q x).
  by have [_ e] := standard_test_accepts (h_law x) q_law; exact: e.
rewrite acc; congr (_ + _); first by case: (leP (h y y) (q y)).
apply: eq_bigr => x _; rewrite acc; congr (_ * _).
case: (leP (h x x) (q x)) => [hq | /ltW qh]; first by rewrite max_eq_l ?subr_ge0.
by rewrite subrr max_eq_r // subr_le0.
Qed.

(** A target that does not move is emitted. *)
Theorem fixed_target_exact q g : law q -> law g -> moving_law q (fun=> g) =1 g.
Proof.
move=> q_law g_law; have [t _] := standard_test_accepts g_law q_law.
apply: (step_exact_iff g q_law t (fun=> standard_residual_law q g_law)).2.
exact: standard_criterion.
Qed.

(** The published ResiSpec is a member, whichever way it spreads: its h x is p at x and the draft with
    what was reserved elsewhere; where nothing can be rejected it is p. *)
Definition published_aim p q spread x : V -> R :=
  fun y => if q x <= p x then p y else if y == x then p x else q y + spread x y.

Lemma published_aim_law p q spread x :
    law p -> law q -> (forall z, 0 < budget p q z -> spreads p q z (spread z)) ->
  law (published_aim p q spread x).
Proof.
move=> p_law q_law spr; have [p_ge0 _] := p_law; have [q_ge0 q_mass] := q_law.
rewrite /published_aim; case: (leP (q x) (p x)) => [_ | pq]; first exact: p_law.
have Z_gt0 : 0 < budget p q x by rewrite subr_gt0.
have r_ge0 := spreads_ge0 p_law q_law Z_gt0 (spr x Z_gt0); have [r0 _ r_mass] := spr x Z_gt0.
split=> [y|]; first by case: eqP => // _; apply: addr_ge0.
rewrite (mass_same (g := fun y => (q y + spread x y) - budget p q x * (x == y)%:R)).
  rewrite mass_minus mass_plus mass_scale q_mass r_mass.
  have -> : mass (fun y => (x == y)%:R) = 1 :> R.
    by rewrite /mass (bigD1 x) //= eqxx big1 ?addr0 // => y /negbTE; rewrite eq_sym => ->.
  by arith.
move=> y; rewrite [x == y]eq_sym; case: (eqVneq y x) => [-> | _]; last by rewrite mulr0 subr0.
by rewrite r0 /budget /=; arith.
Qed.

Theorem published_is_moving p q spread :
    law p -> law q -> (forall x, 0 < budget p q x -> spreads p q x (spread x)) ->
  published_law_of p q spread =1 moving_law q (published_aim p q spread).
Proof.
move=> p_law q_law spr y.
rewrite (published_law_sum y p_law q_law spr) moving_target_law //; last first.
  by move=> x; exact: published_aim_law.
have at_x x : published_aim p q spread x x = p x by rewrite /published_aim eqxx; case: ifP.
congr (_ + _); first by rewrite at_x /minimum; case: (leP (p y) (q y)).
rewrite big_mkcond; apply: eq_bigr => x _; rewrite at_x; case: ltP => [pq | qp]; last first.
  by rewrite max_eq_r ?subr_le0 // mul0r.
have Z_gt0 : 0 < budget p q x by rewrite subr_gt0.
have r_ge0 := spreads_ge0 p_law q_law Z_gt0 (spr x Z_gt0); have [r0 _ r_mass] := spr x Z_gt0.
have rest z : floor (published_aim p q spread x) q z = spread x z.
  rewrite /floor /published_aim leNgt pq /=; case: (eqVneq z x) => [-> | _].
    by rewrite r0 max_eq_r // subr_le0 ltW.
  have -> : q z + spread x z - q z = spread x z by arith.
  by rewrite max_eq_l.
rewrite max_eq_l ?subr_ge0 ?ltW // -/(budget p q x) -r_mass -(mass_same rest).
by rewrite mass_normalise ?rest //; exact: floor_ge0.
Qed.

(** The candidate's own probability is raised, and the others share what is left as in p. *)
Definition raised p height x : V -> R :=
  fun y => if y == x then height x else (1 - height x) * (p y / (1 - p x)).

Lemma raised_law p height x : law p -> p x <= height x <= 1 -> law (raised p height x).
Proof.
move=> p_law /andP[p_le le1]; have [p_ge0 p_mass] := p_law; have px_le1 := law_le_1 x p_law.
rewrite /raised; split=> [y|].
  case: eqP => _; first exact: le_trans p_le.
  by rewrite mulr_ge0 ?divr_ge0 ?subr_ge0.
rewrite /mass (bigD1 x) //= eqxx (eq_bigr (fun y => (1 - height x) / (1 - p x) * p y)); last first.
  by move=> y /negbTE ->; arith.
have others : \sum_(y | y != x) p y = 1 - p x.
  by rewrite -p_mass /mass [in RHS](bigD1 x) //=; arith.
rewrite -mulr_sumr others; case: (eqVneq (1 - p x) 0) => [zero | nz]; last by rewrite mulfVK //; arith.
have h1 : 1 <= height x by have px1 : p x = 1 by [from (- 1 : R) zero]; rewrite px1 in p_le.
by rewrite zero mulr0 addr0; exact: eq_of_le.
Qed.

(** Cactus: by as much as a divergence of about delta allows; [root] is the square root. *)
Definition cactus_height (root : R -> R) delta p x : R :=
  Num.min 1 (p x + root (2%:R * delta * p x * (1 - p x))).

(** Reflective verification: the target mixed with a second law that agrees with the candidate. *)
Definition reflective_aim p w x : V -> R := fun y => (1 - w) * p y + w * (y == x)%:R.
Definition reflective_height p w x : R := (1 - w) * p x + w.

Theorem reflective_is_raised p w x : law p -> reflective_aim p w x =1 raised p (reflective_height p w) x.
Proof.
move=> p_law y; have [p_ge0 p_mass] := p_law; rewrite /reflective_aim /raised /reflective_height.
case: (eqVneq y x) => [-> | yx]; first by rewrite mulr1.
rewrite mulr0 addr0; case: (eqVneq (1 - p x) 0) => [zero | nz]; last first.
  have v : (1 - p x) * (1 - p x)^-1 = 1 by rewrite mulfV.
  by from (- ((1 - w) * p y)) v.
have others : \sum_(z | z != x) p z = 0.
  by rewrite /mass (bigD1 x) //= in p_mass; rewrite -[RHS]zero; from (1 : R) p_mass.
have py : p y <= 0.
  rewrite -others (bigD1 y) //= -subr_ge0; set rest := \sum_(i | _) _.
  have -> : p y + rest - p y = rest by arith.
  by apply: sumr_ge0.
by have -> : p y = 0 by [exact: eq_of_le]; rewrite mul0r !mulr0.
Qed.

End Moving.

Section Die.
Variable R : realFieldType.
Let die := die R.
Let draft := two_faces R.

(** On the fair die with a draft that knows two faces, raise each face to 1/2: the draft is emitted. *)
Lemma die_raised_law (height : 'I_3 -> R) :
    (forall x, height x = 2%:R^-1) -> moving_law draft (raised die height) =1 draft.
Proof.
move=> height_half y; have d_law : law draft := two_faces_law R; have p_law : law die := die_law R.
have half_ge : 3%:R^-1 <= 2%:R^-1 :> R by have [lt0 _] := die_lt R; exact: ltW lt0.
have half_le1 : 2%:R^-1 <= 1 :> R.
  have v2 : 2%:R * 2%:R^-1 = 1 :> R by rewrite mulfV // pnatr_eq0.
  have h0 : 0 <= 2%:R^-1 :> R by rewrite invr_ge0 ler0n.
  by apply: (le_from h0); from (- 1 : R) v2.
have h_law x : law (raised die height x) by apply: raised_law => //; rewrite height_half half_ge.
have at_x x : raised die height x x = 2%:R^-1 by rewrite /raised eqxx.
have draft_le x : draft x <= 2%:R^-1.
  by rewrite /draft /two_faces; case: ifP => // _; rewrite invr_ge0 ler0n.
rewrite moving_target_law // at_x min_eq_l // big1 ?addr0 // => x _.
by rewrite at_x max_eq_r ?subr_le0 // mul0r.
Qed.

(** That law is at a distance of 1/3 from the target, and none of the h x. *)
Theorem die_raised_bias (height : 'I_3 -> R) :
    (forall x, height x = 2%:R^-1) ->
  total_variation (moving_law draft (raised die height)) die = 3%:R^-1
  /\ forall x, ~ (moving_law draft (raised die height) =1 raised die height x).
Proof.
move=> height_half; have emits := die_raised_law height_half.
have t_gt0 : 0 < 42%:R^-1 :> R by rewrite invr_gt0 ltr0n.
split=> [|x same].
  rewrite /total_variation sum3 !emits /draft /two_faces /die /die.die /= (third R) (half R).
  have -> : 21%:R * 42%:R^-1 - 14%:R * 42%:R^-1 = 7%:R * 42%:R^-1 :> R by arith.
  rewrite sub0r normrN !ger0_norm ?mulr_ge0 ?ler0n ?ltW //.
  by have e := t42 R; from (14%:R * 42%:R^-1 : R) e.
have above (y : 'I_3) : raised die height x y > 0.
  rewrite /raised height_half; case: eqP => _; first by rewrite invr_gt0 ltr0n.
  have [lt0 _] := die_lt R; rewrite /die /die.die /=.
  have e2 : 0 < 1 - 2%:R^-1 :> R.
    by rewrite (half R); have h := mulr_gt0 (ltr0Sn R 20) t_gt0; apply: (lt_from h); from (- 1 : R) (t42 R).
  have e3 : 0 < 1 - 3%:R^-1 :> R.
    by rewrite (third R); have h := mulr_gt0 (ltr0Sn R 27) t_gt0; apply: (lt_from h); from (- 1 : R) (t42 R).
  by rewrite mulr_gt0 // divr_gt0 // invr_gt0 ltr0n.
by have := above face2; rewrite -same emits /draft /two_faces /= ltxx.
Qed.

(** Cactus with delta = 1/16 raises every face to 1/2: 1/3 + the root of 1/36. *)
Theorem die_cactus (root : R -> R) :
    0 <= root (36%:R^-1) -> root (36%:R^-1) * root (36%:R^-1) = 36%:R^-1 ->
  moving_law draft (raised die (cactus_height root 16%:R^-1 die)) =1 draft.
Proof.
move=> root_ge0 root_square; apply: die_raised_law => x; rewrite /cactus_height /die /die.die.
set b := 16%:R^-1; set c := 3%:R^-1; set d := 6%:R^-1 : R.
have inv n : n.+1%:R * n.+1%:R^-1 = 1 :> R by rewrite mulfV // pnatr_eq0.
have b16 : 16%:R * b = 1 := inv 15%N; have c3 : 3%:R * c = 1 := inv 2%N.
have dd : d * d = 36%:R^-1 by rewrite /d -invfM -natrM.
have under : 2%:R * b * c * (1 - c) = 36%:R^-1.
  have nz : 36%:R != 0 :> R by rewrite pnatr_eq0.
  apply: (mulfI nz); rewrite mulfV //; have cc : 9%:R * (c * (1 - c)) = 2%:R by from (2%:R - 3%:R * c) c3.
  have -> : 36%:R * (2%:R * b * c * (1 - c)) = 8%:R * b * (9%:R * (c * (1 - c))) by arith.
  by rewrite cc; from (1 : R) b16.
rewrite under; set r := root _ in root_ge0 root_square *.
have d_gt0 : 0 < d by rewrite invr_gt0 ltr0n.
have rd : r = d.
  have sum_nz : r + d != 0 by rewrite gt_eqF //; apply: lt_le_trans d_gt0 _; linear root_ge0.
  by apply: (mulIf sum_nz); from (1 : R) (etrans root_square (esym dd)).
have h2 := inv 1%N; set h := 2%:R^-1 in h2 *.
have d6 : 6%:R * d = 1 := inv 5%N.
have sum : c + d = h.
  have nz : 6%:R != 0 :> R by rewrite pnatr_eq0.
  by apply: (mulfI nz); have -> : 6%:R * (c + d) = 2%:R * (3%:R * c) + 6%:R * d by [arith];
     rewrite c3 d6; from (- 3%:R : R) h2.
have h_ge0 : 0 <= h by rewrite invr_ge0 ler0n.
by rewrite rd sum min_eq_r //; apply: (le_from h_ge0); from (- 1 : R) h2.
Qed.

(** So does reflective verification with the weight 1/4. *)
Theorem die_reflective : moving_law draft (reflective_aim die 4%:R^-1) =1 draft.
Proof.
have same x : reflective_aim die 4%:R^-1 x =1 raised die (reflective_height die 4%:R^-1) x.
  exact: reflective_is_raised (die_law R).
move=> y; rewrite -(die_raised_law (height := reflective_height die 4%:R^-1)) => [|x]; last first.
  rewrite /reflective_height /die /die.die; set c := 3%:R^-1; set w := 4%:R^-1; set h := 2%:R^-1.
  have inv n : n.+1%:R * n.+1%:R^-1 = 1 :> R by rewrite mulfV // pnatr_eq0.
  have c3 : 3%:R * c = 1 := inv 2%N; have w4 : 4%:R * w = 1 := inv 3%N; have h2 : 2%:R * h = 1 := inv 1%N.
  have nz : 12%:R != 0 :> R by rewrite pnatr_eq0.
  apply: (mulfI nz).
  have -> : 12%:R * ((1 - w) * c + w) = (4%:R - 4%:R * w) * (3%:R * c) + 3%:R * (4%:R * w) by arith.
  by rewrite c3 w4; from (- 6%:R : R) h2.
rewrite /moving_law /step_law; apply: eq_bigr => x _.
rewrite /standard_test /test_of_mass /minimum /standard_residual /normalise /floor !same.
have masses : mass (fun z => Num.max (reflective_aim die 4%:R^-1 x z - draft z) 0)
    = mass (fun z => Num.max (raised die (reflective_height die 4%:R^-1) x z - draft z) 0).
  by apply: mass_same => z; rewrite same.
by rewrite masses.
Qed.

End Die.
