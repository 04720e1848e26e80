(** T4 to T6: ResiSpec as published. Algorithm 1 as printed is not exact, its Theorem 1 describes
    recursive rejection, and its exactness check cannot fail. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain recursive_rejection no_free_lunch.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Published.
Variables (R : realFieldType) (V : finType).
Implicit Types (p q k r : V -> R) (spread : V -> V -> R).

(** GetProxy(p, q, x0), line by line. The budget Z is the mass rejected at x0. *)
Definition budget p q x0 : R := q x0 - p x0.

(** The draft's shape Z q, clipped at the target; nothing at x0. *)
Definition clipped_shape p q x0 : V -> R :=
  fun y => if y == x0 then 0 else Num.min (budget p q x0 * q y) (p y).

(** What clipping lost, and the room left below the target. *)
Definition lost p q x0 : R := budget p q x0 - mass (clipped_shape p q x0).
Definition room p q x0 : V -> R := fun y => if y == x0 then 0 else p y - clipped_shape p q x0 y.

(** What was lost is spread in proportion to the room. *)
Definition proportional p q x0 : V -> R :=
  fun y => clipped_shape p q x0 y + lost p q x0 * (room p q x0 y / mass (room p q x0)).

(** The proxy that reserves r: q at the rejected candidate, p - r elsewhere. *)
Definition proxy p q r x0 : V -> R := fun y => if y == x0 then q x0 else p y - r y.
Definition get_proxy p q x0 : V -> R := proxy p q (proportional p q x0) x0.

(** The published step: accept with probability min(1, p/q); after rejecting x the residual target
    is (p - k)+ normalised, with the proxy k of x. *)
Definition residual_of_proxy p k : V -> R := normalise p (floor p k).
Definition published_law_of p q spread : V -> R :=
  step_law q (standard_test p q) (fun x => residual_of_proxy p (proxy p q (spread x) x)).
Definition published_law p q : V -> R := published_law_of p q (proportional p q).

(** Other readings of "spread" (water-filling is one) share these properties. *)
Definition spreads p q x0 r :=
  [/\ r x0 = 0, forall y, y != x0 -> clipped_shape p q x0 y <= r y <= p y
    & mass r = budget p q x0].

Lemma spreads_ge0 p q x0 r : law p -> law q -> 0 < budget p q x0 -> spreads p q x0 r -> nonneg r.
Proof.
move=> [p_ge0 _] [q_ge0 _] Z_gt0 [r0 bounds _] y; have [->|yx] := eqVneq y x0; first by rewrite r0.
have /andP[low _] := bounds y yx; apply: le_trans low; rewrite /clipped_shape (negbTE yx).
by apply: min_greatest; [apply: mulr_ge0; [exact: ltW | exact: q_ge0] | exact: p_ge0].
Qed.

Lemma proportional_spreads p q x0 :
  law p -> law q -> 0 < budget p q x0 -> spreads p q x0 (proportional p q x0).
Proof.
move=> p_law q_law Z_gt0; have [p_ge0 p_mass] := p_law; have [q_ge0 q_mass] := q_law.
set Z := budget p q x0; have Z_ge0 : 0 <= Z by exact: ltW.
set c := clipped_shape p q x0.
have c0 : c x0 = 0 by rewrite /c /clipped_shape eqxx.
have c_le_p y : c y <= p y by rewrite /c /clipped_shape; case: eqP => _ //; apply: min_right.
have room_c y : y != x0 -> room p q x0 y = p y - c y by rewrite /room => /negbTE ->.
have room0 : room p q x0 x0 = 0 by rewrite /room eqxx.
have room_ge0 : nonneg (room p q x0).
  by move=> y; rewrite /room; case: eqP => // _; rewrite subr_ge0 c_le_p.
have c_mass_le : mass c <= Z.
  rewrite -[leRHS]mulr1 -q_mass -mass_scale; apply: mass_below => y.
  rewrite /c /clipped_shape; case: eqP => _; last exact: min_left.
  by apply: mulr_ge0.
have lost_ge0 : 0 <= lost p q x0 by rewrite /lost subr_ge0.
have room_mass : mass (room p q x0) = (1 - p x0) - mass c.
  have split_p y : p y = (room p q x0 y + c y) + p x0 * (x0 == y)%:R.
    have [->|yx] := eqVneq y x0; first by rewrite room0 c0; arith.
    by rewrite room_c //; arith.
  have h := mass_same split_p; rewrite p_mass !mass_plus mass_scale in h.
  have one : mass (fun y => (x0 == y)%:R) = 1 :> R.
    by rewrite /mass (bigD1 x0) //= eqxx big1 ?addr0 // => y /negbTE; rewrite eq_sym => ->.
  by rewrite one in h; rewrite h; arith.
have lost_le_room : lost p q x0 <= mass (room p q x0).
  rewrite room_mass /lost -/c /budget; have h := law_le_1 x0 q_law; linear h.
rewrite /spreads /proportional -/c; split.
- by rewrite c0 room0 mul0r mulr0 addr0.
- move=> y yx; have [m0|m_neq0] := eqVneq (mass (room p q x0)) 0.
    by rewrite m0 invr0 !mulr0 addr0 lexx c_le_p.
  have m_gt0 : 0 < mass (room p q x0) by rewrite lt_neqAle eq_sym m_neq0 nonneg_mass.
  have share_ge0 : 0 <= room p q x0 y / mass (room p q x0) by apply: divr_ge0; rewrite // ltW.
  have h1 := mulr_ge0 lost_ge0 share_ge0; have h2 := le_scale share_ge0 lost_le_room.
  rewrite mulfVK // [leRHS]room_c // in h2.
  by apply/andP; split; [linear h1 | linear h2].
- rewrite mass_plus mass_scale /mass -mulr_suml -/(mass _) -/(mass (room p q x0)).
  have [m0|m_neq0] := eqVneq (mass (room p q x0)) 0.
    have l0 : lost p q x0 = 0 by apply: eq_of_le => //; rewrite -m0.
    by rewrite l0 mul0r addr0; move: l0; rewrite /lost -/c => l0; from (- 1 : R) l0.
  by rewrite mulfV // mulr1 /lost -/c; arith.
Qed.

(** The residual target after rejecting x0 is r / Z. *)
Lemma floor_proxy p q x0 r y :
  law p -> law q -> 0 < budget p q x0 -> spreads p q x0 r -> floor p (proxy p q r x0) y = r y.
Proof.
move=> p_law q_law Z_gt0 spr; have r_ge0 := spreads_ge0 p_law q_law Z_gt0 spr.
case: spr => r0 _ _; rewrite /floor /proxy; have [->|yx] := eqVneq y x0.
- rewrite r0 /=; apply: max_eq_r; have h := ltW Z_gt0; rewrite /budget in h; linear h.
- rewrite /=; have -> : p y - (p y - r y) = r y by arith.
  exact: max_eq_l.
Qed.

(** The emitted law: min(p, q) + the sum of r^(x) over the tokens x that can be rejected. *)
Theorem published_law_sum p q spread y :
    law p -> law q -> (forall x, 0 < budget p q x -> spreads p q x (spread x)) ->
  published_law_of p q spread y = minimum p q y + \sum_(x | p x < q x) spread x y.
Proof.
move=> p_law q_law spr; have [_ acc] := standard_test_accepts p_law q_law.
rewrite /published_law_of step_law_mass acc; congr (_ + _); rewrite [RHS]big_mkcond /=.
apply: eq_bigr => x _; rewrite acc /minimum; case: ltP => [pq|qp]; last first.
  by rewrite subrr mul0r.
have Z_gt0 : 0 < budget p q x by rewrite subr_gt0.
have fp z : floor p (proxy p q (spread x) x) z = spread x z by apply: floor_proxy; auto.
have [_ _ mass_r] := spr x Z_gt0; rewrite -/(budget p q x) -mass_r.
rewrite -(mass_same fp) mass_normalise ?fp //; exact: floor_ge0.
Qed.

(** T4. If some token x can be rejected while some other token y of positive probability is not
    under-proposed, the published step is biased, whichever way it spreads: y comes too often. *)
Theorem published_not_exact p q spread x y :
    law p -> law q -> (forall x0, 0 < budget p q x0 -> spreads p q x0 (spread x0)) ->
    x != y -> p x < q x -> 0 < p y -> p y <= q y ->
  p y < published_law_of p q spread y.
Proof.
move=> p_law q_law spr xy px py pqy; have Z_gt0 : 0 < budget p q x by rewrite subr_gt0.
rewrite published_law_sum // /minimum min_eq_l // (bigD1 x) //=.
have [_ bounds _] := spr x Z_gt0.
have /andP[low _] : clipped_shape p q x y <= spread x y <= p y by apply: bounds; rewrite eq_sym.
have r_gt0 : 0 < spread x y.
  apply: lt_le_trans low; rewrite /clipped_shape eq_sym (negbTE xy).
  by apply: min_above => //; apply: mulr_gt0 => //; apply: lt_le_trans pqy.
have rest_ge0 : 0 <= \sum_(i | (p i < q i) && (i != x)) spread i y.
  apply: sumr_ge0 => i /andP[pi _]; have Zi : 0 < budget p q i by rewrite subr_gt0.
  exact: (spreads_ge0 p_law q_law Zi (spr i Zi)).
apply: (lt_le_trans (y := p y + spread x y)); [linear r_gt0 | linear rest_ge0].
Qed.

(** T4. With two tokens the published step is exact, so two-token tests cannot see the fault. *)
Theorem published_exact_two_tokens p q spread :
    #|V| = 2%N -> law p -> law q -> (forall x0, 0 < budget p q x0 -> spreads p q x0 (spread x0)) ->
  published_law_of p q spread =1 p.
Proof.
move=> two p_law q_law spr y.
have [z zP] : {z | predC1 y =i pred1 z} by apply: mem_card1; rewrite cardC1 two.
have sum2 (F : V -> R) : \sum_x F x = F y + F z.
  rewrite (bigD1 y) //=; congr (_ + _).
  by rewrite (eq_bigl (pred1 z)) ?big_pred1_eq // => i; have := zP i; rewrite !inE.
have [_ p_mass] := p_law; have [_ q_mass] := q_law.
rewrite /mass sum2 in p_mass; rewrite /mass sum2 in q_mass.
have opposite : q z - p z = p y - q y by rewrite -q_mass in p_mass; from (- 1 : R) p_mass.
rewrite published_law_sum // -[RHS](minimum_floor p q) big_mkcond sum2; congr (_ + _).
have -> : (if p y < q y then spread y y else 0) = 0.
  by case: ltP => // pq; have [] := spr y; rewrite // subr_gt0.
rewrite add0r /floor -opposite; case: ltP => [pq|qp].
- have Z_gt0 : 0 < budget p q z by rewrite subr_gt0.
  have [r0 _ mass_r] := spr z Z_gt0; rewrite /mass sum2 r0 addr0 in mass_r.
  by rewrite mass_r max_eq_l // ltW.
- by rewrite max_eq_r // subr_le0.
Qed.

(** T5. One proxy k for all candidates: if that step is exact (and can reject), its residual target
    is that of recursive rejection, whatever k. *)
Theorem one_proxy_is_recursive_rejection p q k :
    law p -> law q -> mass (minimum p q) != 1 ->
    (forall y, step_law q (standard_test p q) (fun=> residual_of_proxy p k) y = p y) ->
  residual_of_proxy p k =1 standard_residual p q.
Proof.
move=> p_law q_law m_neq1 exact_p y; have [t acc] := standard_test_accepts p_law q_law.
have r_law : law (residual_of_proxy p k) by apply: law_normalise => //; apply: floor_ge0.
have c := (step_exact_iff p q_law t (fun=> r_law)).1 exact_p.
have := memoryless_residual q_law _ c; rewrite (mass_same acc) => /(_ m_neq1 y) ->.
rewrite /standard_residual /normalise mass_floor // subr_eq0 eq_sym (negbTE m_neq1) acc.
by rewrite -(minimum_floor p q y); congr (_ / _); arith.
Qed.

(** T5, from the budget. If r satisfies floor and ceiling and has just the mass that min(1, p/q)
    rejects, then r is the floor. *)
Theorem budget_leaves_the_floor p q r :
    law p -> between_floor_and_ceiling p q r -> mass r = 1 - mass (minimum p q) ->
  r =1 floor p q.
Proof.
move=> p_law [floor_r _] mass_r x; apply/esym/(below_same_mass floor_r).
by rewrite mass_floor.
Qed.

End Published.

Section Telescope.
Variables (R : realFieldType) (V : finType) (p : V -> R) (k : nat -> V -> R).

(** The paper's Appendix B for one fixed sequence of proxies k: residual targets and weights. *)
Fixpoint appendix i : (V -> R) * R :=
  if i is j.+1 then
    let: (r, w) := appendix j in
    let rejected := 1 - mass (minimum (k j) r) in
    (fun x => (r x - minimum (k j) r x) / rejected, w * rejected)
  else (p, 1).
Definition appendix_target i := (appendix i).1.
Definition appendix_weight i := (appendix i).2.

Lemma appendix_next i :
    appendix_weight i = 0 \/ law (appendix_target i) ->
  (forall y, appendix_weight i.+1 * appendix_target i.+1 y =
     appendix_weight i * (appendix_target i y - minimum (k i) (appendix_target i) y)) /\
  (appendix_weight i.+1 = 0 \/ law (appendix_target i.+1)).
Proof.
rewrite /appendix_target /appendix_weight /=; case: (appendix i) => r w /=.
case=> [->|[r_ge0 r_mass]]; first by split=> [y|]; [rewrite !mul0r | left; rewrite mul0r].
pose left x := r x - minimum (k i) r x.
have left_ge0 : nonneg left by move=> x; rewrite subr_ge0; apply: min_right.
have -> : 1 - mass (minimum (k i) r) = mass left by rewrite mass_minus r_mass.
have [d0|d_neq0] := eqVneq (mass left) 0.
- split=> [y|]; last by left; rewrite d0 mulr0.
  by rewrite d0 mulr0 mul0r -/(left y) (mass_zero left_ge0 d0) mulr0.
- have dv : mass left * (mass left)^-1 = 1 by rewrite mulfV.
  split=> [y|]; first by rewrite -/(left y); from (w * left y) dv.
  right; split=> [x|]; last by rewrite /mass -mulr_suml mulfV.
  by apply: divr_ge0; [exact: left_ge0 | exact: nonneg_mass].
Qed.

(** T6. The law that Appendix B adds up is p for every sequence of proxies, exact or not: that it
    comes out as p says nothing about the algorithm. *)
Theorem appendix_check_cannot_fail n y :
    law p ->
  \sum_(i < n) appendix_weight i * minimum (k i) (appendix_target i) y
  + appendix_weight n * appendix_target n y = p y.
Proof.
move=> p_law.
have inv i : appendix_weight i = 0 \/ law (appendix_target i).
  by elim: i => [|i IH]; [right | have [_] := appendix_next IH].
elim: n => [|n IH]; first by rewrite big_ord0 /appendix_weight /appendix_target /= mul1r add0r.
by have [step _] := appendix_next (inv n); rewrite big_ord_recr /= step -[RHS]IH; arith.
Qed.

End Telescope.
