(** T8: residual shaping with the floor put back is exact, step by step and on its schedule. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain recursive_rejection no_free_lunch.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Shaping.
Variables (R : realFieldType) (V : finType).
Implicit Types (p q c d : V -> R).

(** The reserved residual mass: any shape c, clipped between the floor and the ceiling. *)
Definition clipped c p q : V -> R := fun x => Num.max (floor p q x) (Num.min (p x) (c x)).

(** (S): the draft's shape, c = lambda q. *)
Definition shaped_residual lambda p q : V -> R := clipped (fun x => lambda * q x) p q.

(** A shaped rule. Draft, shape and therefore lambda of every step may depend on the list of
    candidates rejected so far. *)
Fixpoint shaped_rule (draft shape : seq V -> V -> R) p (rejected : seq V) k : rule R V :=
  match k with
  | 0 => Draw p
  | k'.+1 =>
    let q := draft rejected in
    let r := clipped (shape rejected) p q in
    Try q (test_of_mass q (fun x => p x - r x))
        (fun x => shaped_rule draft shape (normalise p r) (rcons rejected x) k')
  end.

(** T8. Whatever the shape, floor and ceiling hold. *)
Theorem clipped_floor_ceiling c p q :
  nonneg p -> nonneg q -> between_floor_and_ceiling p q (clipped c p q).
Proof.
move=> p_ge0 q_ge0; split=> x; first exact: max_left.
apply: max_least; last exact: min_left.
by apply: max_least => //; have h := q_ge0 x; linear h.
Qed.

Lemma clipped_ge0 c p q : nonneg (clipped c p q).
Proof. by move=> x; apply: le_trans (max_left _ _); apply: floor_ge0. Qed.

(** T8. The step with any shape c is exact; in particular with c = C / w for any future capacity C,
    which is how candidates from different laws are handled. *)
Theorem capacity_step_exact c p q d :
    law p -> law q ->
  let r := clipped c p q in
  forall y, step_law q (test_of_mass q (fun x => p x - r x)) (fun=> normalise d r) y = p y.
Proof.
move=> p_law q_law r; apply: floor_ceiling_exact => //.
by apply: clipped_floor_ceiling; [case: p_law | case: q_law].
Qed.

(** T8. The shaped step is exact for every lambda. *)
Theorem shaped_step_exact lambda p q d :
    law p -> law q ->
  let r := shaped_residual lambda p q in
  forall y, step_law q (test_of_mass q (fun x => p x - r x)) (fun=> normalise d r) y = p y.
Proof. by move=> p_law q_law; apply: capacity_step_exact. Qed.

(** T8. A rule of shaped steps is exact, for all shapes, drafts and numbers of candidates. *)
Theorem shaped_rule_exact draft shape p rejected k :
    law p -> (forall s, law (draft s)) ->
  emitted (shaped_rule draft shape p rejected k) =1 p.
Proof.
move=> p_law q_law; apply: chain_exact.
elim: k p rejected p_law => [|k IH] p rejected p_law //=.
set q := draft rejected; set r := clipped _ p q; have [p_ge0 _] := p_law.
have [q_ge0 _] := q_law rejected.
have [floor_r r_ceiling] := clipped_floor_ceiling (shape rejected) p_ge0 q_ge0.
exists (fun=> normalise p r); split=> [|x]; last first.
  by apply/IH/law_normalise => //; apply: clipped_ge0.
apply: split_criterion => //; first exact: q_law.
- by move=> x; rewrite subr_ge0.
- move=> x; have h : p x - q x <= r x by apply: le_trans (floor_r x); apply: max_left.
  by linear h.
- exact: clipped_ge0.
- by move=> x; arith.
Qed.

(** lambda = 0 is recursive rejection: the step sits on the floor. *)
Theorem shaped_zero p q : nonneg p -> shaped_residual 0 p q =1 floor p q.
Proof.
move=> p_ge0 x; rewrite /shaped_residual /clipped mul0r; apply: max_eq_l.
by apply: le_trans (min_right _ _) (floor_ge0 p q x).
Qed.

(** A large lambda accepts nothing: the step sits on the ceiling. *)
Theorem shaped_infinite lambda p q :
    nonneg p -> nonneg q -> (forall x, p x <= lambda * q x) -> shaped_residual lambda p q =1 p.
Proof.
move=> p_ge0 q_ge0 large x; rewrite /shaped_residual /clipped min_eq_l //; apply: max_eq_r.
by apply: max_least => //; have h := q_ge0 x; linear h.
Qed.

End Shaping.

Section Schedule.
Variables (R : realFieldType) (V : finType).
Variables (p q : V -> R) (W : R).

(** (P): the mass that stays reserved once the weights of the past steps add up to S. *)
Definition reserved (S : R) : V -> R :=
  fun x => Num.max (p x - q x * S) (Num.min (p x) (q x * Num.max (W - S) 0)).

(** total i is the sum S_i of the first i weights; u i and w i are the unnormalised residual and
    the weight of step i, counted from 0, so that u 0 = p. *)
Fixpoint total i : R := if i is j.+1 then total j + mass (reserved (total j)) else 0.
Definition u i : V -> R := reserved (total i).
Definition w i : R := mass (u i).

(** The sequential rule that follows the schedule from step i on, with k candidates left. *)
Fixpoint schedule_from i k : rule R V :=
  match k with
  | 0 => Draw (normalise p (u i))
  | k'.+1 => Try q (test_of_mass q (fun x => (u i x - u i.+1 x) / w i))
                 (fun=> schedule_from i.+1 k')
  end.
Definition schedule k := schedule_from 0 k.

Hypotheses (p_law : law p) (q_law : law q).

Let p_ge0 x : 0 <= p x. Proof. by case: p_law. Qed.
Let q_ge0 x : 0 <= q x. Proof. by case: q_law. Qed.

Lemma total_next i : total i.+1 = total i + w i. Proof. by []. Qed.

Lemma u_ge0 i : nonneg (u i).
Proof.
move=> x; apply: le_trans (max_right _ _); apply: min_greatest => //.
by apply: mulr_ge0 => //; apply: max_right.
Qed.

Lemma w_ge0 i : 0 <= w i. Proof. exact/nonneg_mass/u_ge0. Qed.

Lemma u_le_p i : 0 <= total i -> below (u i) p.
Proof.
move=> S_ge0 x; apply: max_least; last exact: min_left.
have h := mulr_ge0 (q_ge0 x) S_ge0; linear h.
Qed.

Lemma total_ge0 i : 0 <= total i.
Proof. by elim: i => [|i IH] //=; apply: addr_ge0 => //; apply: w_ge0. Qed.

Lemma u_first : u 0 =1 p.
Proof.
by move=> x; rewrite /u /reserved /= mulr0 !subr0; apply: max_eq_l; apply: min_left.
Qed.

Lemma w_first : w 0 = 1.
Proof. by rewrite /w (mass_same u_first); case: p_law. Qed.

(** What is reserved shrinks from step to step, by at most what the step can accept. *)
Lemma u_step i x : u i.+1 x <= u i x /\ u i x - u i.+1 x <= q x * w i.
Proof.
rewrite /u total_next /reserved; set S := total i; set v := w i.
have v_ge0 : 0 <= v by exact: w_ge0.
have qv_ge0 : 0 <= q x * v by apply: mulr_ge0.
have gap_le : Num.max (W - (S + v)) 0 <= Num.max (W - S) 0.
  apply: max_least; last exact: max_right.
  by apply: le_trans (max_left _ _); linear v_ge0.
have gap_ge : Num.max (W - S) 0 <= Num.max (W - (S + v)) 0 + v.
  apply: max_least.
  - by have h := max_left (W - (S + v)) 0; linear h.
  - by apply: addr_ge0 => //; apply: max_right.
have reach_le := le_scale (q_ge0 x) gap_le; have reach_ge := le_scale (q_ge0 x) gap_ge.
split.
- apply: max_least.
  + by apply: le_trans (max_left _ _); linear qv_ge0.
  + apply: le_trans (max_right _ _); apply: min_greatest; first exact: min_left.
    exact: le_trans (min_right _ _) reach_le.
- set b := Num.max (p x - q x * (S + v)) _.
  suff h : Num.max (p x - q x * S) (Num.min (p x) (q x * Num.max (W - S) 0)) <= b + q x * v.
    by linear h.
  apply: max_least.
  + by have h : p x - q x * (S + v) <= b by [exact: max_left]; linear h.
  + have h : Num.min (p x) (q x * Num.max (W - (S + v)) 0) <= b by exact: max_right.
    apply: le_trans (_ : Num.min (p x) (q x * Num.max (W - (S + v)) 0) + q x * v <= _); last by linear h.
    case: (leP (p x) (q x * Num.max (W - (S + v)) 0)) => _.
    * by apply: le_trans (min_left _ _) _; linear qv_ge0.
    * by apply: le_trans (min_right _ _) _; linear reach_ge.
Qed.

(** T8 for the schedule. For every W each step satisfies floor and ceiling: with the residual
    target p_i = u i / w i, what is reserved, u (i+1) / w i, lies between (p_i - q)+ and p_i. *)
Theorem schedule_floor_ceiling i :
    w i != 0 ->
  between_floor_and_ceiling (fun x => u i x / w i) q (fun x => u i.+1 x / w i).
Proof.
move=> w_neq0; have winv : 0 <= (w i)^-1 by rewrite invr_ge0 w_ge0.
have wv : w i * (w i)^-1 = 1 by rewrite mulfV.
split=> x; have [shrinks by_at_most] := u_step i x; last first.
  by have h := le_scale winv shrinks; linear h.
apply: max_least; last by apply: mulr_ge0; rewrite ?u_ge0.
have h := le_scale winv by_at_most.
have e : (w i)^-1 * (q x * w i) = q x by from (q x) wv.
by rewrite e in h; linear h.
Qed.

(** In normalised terms step i is (S) with lambda_i = (W - S_i)+ / w_i. *)
Theorem schedule_is_shaped i x :
    w i != 0 ->
  u i.+1 x / w i =
  shaped_residual (Num.max (W - total i.+1) 0 / w i) (fun y => u i y / w i) q x.
Proof.
move=> w_neq0; have w_gt0 : 0 < w i by rewrite lt_neqAle eq_sym w_neq0 w_ge0.
have winv : 0 <= (w i)^-1 by rewrite invr_ge0 w_ge0.
have wv : w i * (w i)^-1 = 1 by rewrite mulfV.
have [[floor_u u_ceiling] [shrinks _]] := (schedule_floor_ceiling w_neq0, u_step i x).
set cap := Num.max (W - total i.+1) 0; rewrite /shaped_residual /clipped.
have u_le_up : Num.min (p x) (q x * cap) <= u i.+1 x by exact: max_right.
apply: eq_of_le; last first.
- apply: max_least; first exact: floor_u.
  have h : Num.min (u i x) (q x * cap) <= u i.+1 x.
    apply: le_trans u_le_up; apply: min_greatest; last exact: min_right.
    by apply: le_trans (min_left _ _) _; apply: u_le_p; apply: total_ge0.
  have g := le_scale winv h; apply: le_trans (_ : (w i)^-1 * Num.min (u i x) (q x * cap) <= _);
    last by linear g.
  have [ub|bu] := leP (u i x) (q x * cap).
  + by apply: le_trans (min_left _ _) _; rewrite mulrC.
  + apply: le_trans (min_right _ _) _.
    by have -> : cap / w i * q x = (w i)^-1 * (q x * cap) by arith.
- have -> : u i.+1 x = Num.max (p x - q x * total i.+1) (Num.min (p x) (q x * cap)) by [].
  case: (leP (p x - q x * total i.+1) (Num.min (p x) (q x * cap))) => h.
  + apply: le_trans (max_right _ _); apply: min_greatest.
    * have g := le_scale winv (le_trans u_le_up shrinks); linear g.
    * have g := le_scale winv (min_right (p x) (q x * cap)).
      by linear g.
  + apply: le_trans (max_left _ _); apply: le_trans (max_left _ _).
    have g : (w i)^-1 * (p x - q x * total i) <= (w i)^-1 * u i x.
      by apply: le_scale => //; apply: max_left.
    have e : (w i)^-1 * (q x * w i) = q x by from (q x) wv.
    have e2 : (p x - q x * total i.+1) / w i = (w i)^-1 * (p x - q x * total i) - q x.
      by rewrite total_next; from (- q x) wv.
    by rewrite e2; linear g.
Qed.

Let m i x := (u i x - u i.+1 x) / w i.

Lemma m_ge0 i : nonneg (m i).
Proof.
by move=> x; have [h _] := u_step i x; apply: divr_ge0; rewrite ?subr_ge0 ?w_ge0.
Qed.

Lemma m_le_q i : below (m i) q.
Proof.
move=> x; have [_ h] := u_step i x; rewrite /m.
have [w0|w_neq0] := eqVneq (w i) 0; first by rewrite w0 invr0 mulr0.
have wv : w i * (w i)^-1 = 1 by rewrite mulfV.
have winv : 0 <= (w i)^-1 by rewrite invr_ge0 w_ge0.
have g := le_scale winv h.
by have e : (w i)^-1 * (q x * w i) = q x by [from (q x) wv]; rewrite e in g; linear g.
Qed.

(** Where the weight is 0 all is over: nothing is reserved any more. *)
Lemma over i x : w i = 0 -> u i x = 0.
Proof. by move=> w0; apply: (mass_zero (@u_ge0 i)). Qed.

Lemma over_next i x : w i = 0 -> u i.+1 x = 0.
Proof.
move=> w0; have [h _] := u_step i x; apply: eq_of_le; last exact: u_ge0.
by rewrite (over x w0) in h.
Qed.

Lemma w_m i x : w i * m i x = u i x - u i.+1 x.
Proof.
rewrite /m; have [w0|w_neq0] := eqVneq (w i) 0; last by rewrite mulrC mulfVK.
by rewrite w0 (over _ w0) (over_next _ w0) subrr mul0r.
Qed.

Lemma schedule_criterion i :
  criterion (normalise p (u i)) q (accepted_mass q (test_of_mass q (m i)))
            (fun=> normalise p (u i.+1)).
Proof.
have [w0|w_neq0] := eqVneq (w i) 0.
  have [_ acc] := test_of_mass_accepts (@m_ge0 i) (@m_le_q i).
  have m0 x : m i x = 0 by rewrite /m w0 invr0 mulr0.
  have next0 : mass (u i.+1) = 0 by rewrite /mass big1 // => x _; apply: over_next.
  have e x : normalise p (u i) x = p x by rewrite /normalise -/(w i) w0 eqxx.
  have e' x : normalise p (u i.+1) x = p x by rewrite /normalise next0 eqxx.
  split=> y; rewrite acc m0 e // (eq_bigr (fun x => q x * p y)).
    by rewrite -mulr_suml; have [_ q_mass] := q_law; rewrite [\sum_x q x]q_mass mul1r subr0.
  by move=> x _; rewrite acc m0 e' subr0.
pose r x := u i.+1 x / w i.
have r_ge0 : nonneg r by move=> x; apply: divr_ge0; [apply: u_ge0 | apply: w_ge0].
have c := split_criterion p (law_normalise p_law (@u_ge0 i)) q_law
  (@m_ge0 i) (@m_le_q i) r_ge0.
have [|mp E] := c; last first.
  split=> // y; rewrite -E; apply: eq_bigr => x _; congr (_ * _).
  by rewrite (normalise_scale _ _ w_neq0).
move=> x; rewrite /normalise -/(w i) (negbTE w_neq0) /r /m; arith.
Qed.

(** T8 for the schedule. For every W each of its steps preserves its target u i / w i, with the
    residual target u (i+1) / w (i+1). *)
Theorem schedule_exact i y :
  step_law q (test_of_mass q (m i)) (fun=> normalise p (u i.+1)) y = normalise p (u i) y.
Proof.
by have [_ E] := schedule_criterion i; rewrite step_law_mass E; arith.
Qed.

Lemma test_m i : test (test_of_mass q (m i)).
Proof. by have [] := test_of_mass_accepts (@m_ge0 i) (@m_le_q i). Qed.

Lemma schedule_from_proper i k : proper (schedule_from i k).
Proof.
elim: k i => [|k IH] i /=; first by apply: law_normalise p_law (@u_ge0 i).
by do 2!split=> //; exact: test_m.
Qed.

(** Its candidates are k independent draws from q. *)
Theorem schedule_candidates k : candidates_from q k (schedule k).
Proof. by rewrite /schedule; elim: k 0%N => [|k IH] i //=; split. Qed.

(** T8 for the schedule. The rule that follows it is exact for every W and every K. *)
Theorem resispec_exact k : emitted (schedule k) =1 p.
Proof.
have start : normalise p (u 0) =1 p.
  by move=> x; rewrite /normalise -/(w 0) w_first oner_eq0 divr1 u_first.
move=> x; rewrite -[RHS]start; move: x; apply: chain_exact; rewrite /schedule.
elim: k 0%N => [|k IH] i //=; exists (fun=> normalise p (u i.+1)); split=> //.
exact: schedule_criterion.
Qed.

Lemma schedule_from_accepted i k y : w i * accepted (schedule_from i k) y = u i y - u (i + k) y.
Proof.
elim: k i => [|k IH] i; first by rewrite addn0 /= mulr0 subrr.
rewrite [accepted _]/= step_law_mass.
have [_ acc] := test_of_mass_accepts (@m_ge0 i) (@m_le_q i).
rewrite acc (eq_bigr (fun x => (q x - m i x) * accepted (schedule_from i.+1 k) y));
  last by move=> x _; rewrite acc.
have [_ q_mass] := q_law; rewrite -mulr_suml sumrB [\sum_x q x]q_mass.
have left : w i * (1 - \sum_x m i x) = w i.+1.
  rewrite mulrBr mulr1 mulr_sumr (eq_bigr (fun x => u i x - u i.+1 x)).
    by rewrite sumrB /w /mass; arith.
  by move=> x _; rewrite w_m.
by rewrite mulrDr w_m mulrA left IH addnS addSn; arith.
Qed.

(** The mass that k candidates accept at y: the target less what is still reserved then. *)
Lemma schedule_accepted k y : accepted (schedule k) y = p y - u k y.
Proof. by have := schedule_from_accepted 0 k y; rewrite w_first mul1r add0n u_first. Qed.

(** If the weights add up to W, the schedule accepts min(p, W q) in total. *)
Theorem schedule_acceptance k :
  total k = W -> acceptance_rate (schedule k) = \sum_x Num.min (p x) (W * q x).
Proof.
move=> root; apply: eq_bigr => y _; rewrite schedule_accepted /u root /reserved subrr.
rewrite (max_eq_l (lexx 0)) mulr0 (min_eq_r (p_ge0 y)).
case: (leP (p y) (W * q y)) => h.
- by rewrite max_eq_r ?subr0 // subr_le0 mulrC.
- by rewrite max_eq_l ?subr_ge0 1?[q y * W]mulrC ?ltW //; arith.
Qed.

End Schedule.
