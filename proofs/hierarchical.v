(** Hierarchical speculative decoding is block verification, with its weights, its chances to pass and
    its residuals; its published listing, which does not cap the last product of ratios, is biased. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain tree_output tree_coin levels.
From resispec Require Import levels_chain levels_block levels_bound.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Exact.
Variables (R : realFieldType) (V J : finType) (model draft : seq V -> V -> R) (root : J).
Hypotheses (model_law : forall c, law (model c)) (draft_law : forall c, law (draft c)).

Lemma chain_level_mean n c (st : state R V J) F :
  level_rule_mean model (chain_reveal draft root n c) st F
  = \sum_(t : n.-tuple V) joint draft c t * end_mean model F (after model (chain_reveal draft root n c) st t).
Proof.
elim: n c st => [|n IH] c st.
  by rewrite [RHS](bigD1 [tuple]) //= mul1r [X in _ = _ + X]big1 ?addr0 // => t; rewrite tuple0.
rewrite (sum_tuples n (fun t =>
  joint draft c t * end_mean model F (after model (chain_reveal draft root n.+1 c) st t))) /=.
apply: eq_bigr => x _; rewrite IH mulr_sumr; apply: eq_bigr => t _; exact: mulrA.
Qed.

(** Block verification of n drafted tokens is exact: in the mean over what is drafted, its output
    begins with s with the target's probability. *)
Theorem block_verification_exact n s :
  \sum_(t : n.-tuple V) joint draft [::] t
    * block_mean model draft (fun w x => begins model [::] (rcons w x) s) [::] 1 t
  = target model s.
Proof.
rewrite -(levels_exact model_law root s (chain_proper root draft_law n [::])) chain_level_mean.
apply: eq_bigr => t _; have Q_ge0 := joint_ge0 draft_law [::] t.
case: (eqVneq (joint draft [::] t) 0) => [-> | Q_neq0]; first by rewrite !mul0r.
have Q_gt0 : 0 < joint draft [::] t by rewrite lt_neqAle eq_sym Q_neq0.
rewrite -(chain_ends_as_block root model_law draft_law _ Q_gt0).
by rewrite size_tuple.
Qed.

End Exact.

Section Hierarchical.
Variables (R : realFieldType) (V : finType) (model draft : seq V -> V -> R).
Hypotheses (model_law : forall c, law (model c)) (draft_law : forall c, law (draft c)).

(** r, the product of the ratios p/q of the tokens s, from the product r of the tokens c on; and the
    highest of the products of all that s begins with. *)
Fixpoint ratios c (r : R) s : R :=
  if s is x :: s' then ratios (rcons c x) (r * model c x / draft c x) s' else r.
Fixpoint highest c (r : R) s : R :=
  if s is x :: s' then Num.max r (highest (rcons c x) (r * model c x / draft c x) s') else r.

Lemma ratios_rcons c r s x :
  ratios c r (rcons s x) = ratios c r s * model (c ++ s) x / draft (c ++ s) x.
Proof. by elim: s c r => [|y s IH] c r /=; rewrite ?cats0 // IH cat_rcons. Qed.

Lemma highest_rcons c r s x :
  highest c r (rcons s x) = Num.max (highest c r s) (ratios c r (rcons s x)).
Proof.
elim: s c r => [|y s IH] c r //=; rewrite IH; set a := highest _ _ _; set b := ratios _ _ _.
apply: eq_of_le; last first.
  apply: max_least; last by apply: le_trans (max_right r _); exact: max_right.
  by apply: max_least; [exact: max_left | apply: le_trans (max_right r _); exact: max_left].
apply: max_least; first by apply: le_trans (max_left _ b); exact: max_left.
by apply: max_least; [apply: le_trans (max_left _ b); exact: max_right | exact: max_right].
Qed.

(** One token more. *)
Lemma weight_step (r M k : R) : 0 < M -> 0 <= k ->
  Num.min 1 (r / M * k) = r * k / Num.max M (r * k).
Proof.
move=> M_gt0 k_ge0; have nz : M != 0 by rewrite gt_eqF.
have -> : r / M * k = r * k / M by arith.
have inv_ge0 : 0 <= M^-1 by rewrite invr_ge0 ltW.
have scaled : M / M = 1 by rewrite mulfV.
case: (leP M (r * k)) => [above | /ltW under].
  have h := le_scale inv_ge0 above; rewrite mulVf // mulrC in h.
  by rewrite min_eq_l // mulfV // gt_eqF //; apply: lt_le_trans above.
have h := le_scale inv_ge0 under; rewrite mulVf // mulrC in h.
by rewrite min_eq_r.
Qed.

Lemma highest_ge1 s : 1 <= highest [::] 1 s.
Proof. by case: s => [|x s] //=; exact: max_left. Qed.

Let ratio_ge0 c x : 0 <= model c x / draft c x.
Proof. by have [m _] := model_law c; have [d _] := draft_law c; rewrite divr_ge0. Qed.

(** Its weights: the product of ratios divided by the highest so far is block verification's weight. *)
Theorem capped_ratio_is_weight s :
  ratios [::] 1 s / highest [::] 1 s = block_weight model draft [::] 1 s.
Proof.
elim/last_ind: s => [|s x IH]; first by rewrite /= divr1.
rewrite block_weight_rcons -IH highest_rcons ratios_rcons /=; set r := ratios _ _ _; set M := highest _ _ _.
have M_gt0 : 0 < M by exact: lt_le_trans ltr01 (highest_ge1 s).
by rewrite -[r * model s x / draft s x]mulrA -weight_step // mulrA.
Qed.

(** Its chance to pass: what the target of weight w has too much, by what the draft has too much. (If
    both are 0, nothing is ever emitted here, and x / 0 = 0.) *)
Definition divergence_ratio c (w : R) : R :=
  mass (spare model draft c w)
  / Num.max (mass (spare model draft c w)) (mass (floor (draft c) (fun y => w * model c y))).

Theorem divergence_ratio_is_passing c w : 0 <= w <= 1 -> divergence_ratio c w = passes model draft c w.
Proof.
move=> /andP[w_ge0 w_le1]; rewrite /divergence_ratio /passes; congr (_ / _).
have [_ m1] := model_law c; have [_ d1] := draft_law c.
have less : mass (floor (draft c) (fun y => w * model c y)) = mass (spare model draft c w) + (1 - w).
  have -> : 1 - w = mass (fun y => draft c y - w * model c y) by rewrite mass_minus mass_scale m1 d1 mulr1.
  rewrite -mass_plus; apply: mass_same => y; rewrite /spare /floor.
  case: (leP (draft c y) (w * model c y)) => [le | /ltW le].
    by rewrite max_eq_r ?subr_le0 // max_eq_l ?subr_ge0 //; arith.
  by rewrite max_eq_l ?subr_ge0 // max_eq_r ?subr_le0 // add0r.
by rewrite less max_eq_r //; linear w_le1.
Qed.

(** The whole of it, after the tokens c with the product r and the highest one M, when the tokens s are
    drafted: the mean of F over what is emitted. The longest prefix that passes is kept; the listing
    lets the last one pass with min(r, 1), the definition with r / M. *)
Section Mean.
Variables (listed : bool) (F : seq V -> V -> R).

Definition last_passes (r M : R) : R := if listed then Num.min r 1 else r / M.
Fixpoint hierarchical_misses c (r M : R) s : R :=
  if s is x :: s' then
    let r' := r * model c x / draft c x in
    (1 - divergence_ratio c (r / M)) * hierarchical_misses (rcons c x) r' (Num.max M r') s'
  else 1 - last_passes r M.
Fixpoint hierarchical_mean c (r M : R) s : R :=
  if s is x :: s' then
    let r' := r * model c x / draft c x in
    divergence_ratio c (r / M) * hierarchical_misses (rcons c x) r' (Num.max M r') s'
      * (\sum_y normalise (model c) (spare model draft c (r / M)) y * F c y)
    + hierarchical_mean (rcons c x) r' (Num.max M r') s'
  else last_passes r M * \sum_y model c y * F c y.

End Mean.

(** Hierarchical speculative decoding, as defined, is block verification. *)
Theorem hierarchical_is_block F s :
  hierarchical_mean false F [::] 1 1 s = block_mean model draft F [::] 1 s.
Proof.
suff same c r M : 0 <= r <= M -> 0 < M ->
    hierarchical_misses false c r M s = misses model draft c (r / M) s
    /\ hierarchical_mean false F c r M s = block_mean model draft F c (r / M) s.
  by have [|//|_ ->] := same [::] 1 1; rewrite ?lexx ?ler01 ?ltr01 ?divr1.
elim: s c r M => [|x s IH] c r M /andP[r_ge0 r_le] M_gt0 //=.
have nz : M != 0 by rewrite gt_eqF.
have inv_ge0 : 0 <= M^-1 by rewrite invr_ge0 ltW.
have w01 : 0 <= r / M <= 1.
  by rewrite mulr_ge0 //=; have h := le_scale inv_ge0 r_le; rewrite mulVf // mulrC in h.
have next : r * model c x / draft c x / Num.max M (r * model c x / draft c x)
    = next_weight model draft c (r / M) x.
  rewrite /next_weight -[r * model c x / draft c x]mulrA -weight_step //.
  by rewrite mulrA.
have r'_ge0 : 0 <= r * model c x / draft c x by rewrite -mulrA mulr_ge0.
have [|| m_same mean_same] := IH (rcons c x) (r * model c x / draft c x) (Num.max M (r * model c x / draft c x)).
- by rewrite r'_ge0 max_right.
- exact: lt_le_trans M_gt0 (max_left _ _).
by rewrite m_same mean_same next !divergence_ratio_is_passing.
Qed.

End Hierarchical.

Section Coin.
Variable R : realFieldType.

(** A coin: the target shows the first face with probability 1/3, the draft with 2/3. *)
Let c : R := 3%:R^-1.
Definition target_coin : seq bool -> bool -> R := fun _ x => if x then c else 2%:R * c.
Definition draft_coin : seq bool -> bool -> R := fun _ x => if x then 2%:R * c else c.

Let c3 : 3%:R * c = 1. Proof. by rewrite mulfV // pnatr_eq0. Qed.
Let c_gt0 : 0 < c. Proof. by rewrite invr_gt0 ltr0n. Qed.
Let c_ge0 : 0 <= c := ltW c_gt0.
Let h : R := 2%:R^-1.
Let h2 : 2%:R * h = 1. Proof. by rewrite mulfV // pnatr_eq0. Qed.
Let h_ge0 : 0 <= h. Proof. by rewrite invr_ge0 ler0n. Qed.
Let nz_c : c != 0. Proof. by rewrite gt_eqF. Qed.

Lemma target_coin_law s : law (target_coin s).
Proof.
split=> [x|]; first by rewrite /target_coin; case: x => //; rewrite mulr_ge0 ?ler0n.
by rewrite /mass sum_faces /target_coin; from (1 : R) c3.
Qed.

Lemma draft_coin_law s : law (draft_coin s).
Proof.
split=> [x|]; first by rewrite /draft_coin; case: x => //; rewrite mulr_ge0 ?ler0n.
by rewrite /mass sum_faces /draft_coin; from (1 : R) c3.
Qed.

Let half_ratio (r : R) : r * c / (2%:R * c) = r * h.
Proof. by rewrite invfM -/h; have v : c * c^-1 = 1 by [rewrite mulfV]; from (r * h) v. Qed.
Let double_ratio (r : R) : r * (2%:R * c) / c = 2%:R * r.
Proof. by have v : c * c^-1 = 1 by [rewrite mulfV]; from (2%:R * r) v. Qed.

(** With the weight 1 the residual is the second face, with 1/2 it is nothing. *)
Let spare_one s x : spare target_coin draft_coin s 1 x = if x then 0 else c.
Proof.
rewrite /spare /floor /target_coin /draft_coin mul1r; case: x.
  by apply: max_eq_r; apply: (le_from c_ge0); arith.
by rewrite max_eq_l; [arith | apply: (le_from c_ge0); arith].
Qed.
Let spare_half s x : spare target_coin draft_coin s h x = 0.
Proof.
rewrite /spare /floor /target_coin /draft_coin; case: x; apply: max_eq_r.
  apply: (le_from (mulr_ge0 (ler0n R 3) (mulr_ge0 h_ge0 c_ge0))); from (- (2%:R * c)) h2.
by apply: (le_from (lexx 0)); from (- c) h2.
Qed.

Let passes_one s : divergence_ratio target_coin draft_coin s 1 = 1.
Proof.
rewrite (divergence_ratio_is_passing target_coin_law draft_coin_law) ?ler01 ?lexx //.
by rewrite /passes subrr addr0 /mass sum_faces !spare_one add0r mulfV.
Qed.
Let passes_half s : divergence_ratio target_coin draft_coin s h = 0.
Proof.
by rewrite /divergence_ratio /mass sum_faces !spare_half addr0 mul0r.
Qed.

Let residual_one s (G : bool -> R) :
  \sum_y normalise (target_coin s) (spare target_coin draft_coin s 1) y * G y = G false.
Proof.
have m : mass (spare target_coin draft_coin s 1) = c by rewrite /mass sum_faces !spare_one add0r.
by rewrite sum_faces /normalise m (negbTE nz_c) !spare_one mulfV // mul0r mul0r add0r mul1r.
Qed.

Let max1h : Num.max 1 h = 1.
Proof. by apply: max_eq_l; apply: (le_from h_ge0); from (- 1 : R) h2. Qed.
Let max12 : Num.max 1 2%:R = 2%:R :> R. Proof. by apply: max_eq_r; rewrite ler1n. Qed.

(** Two tokens are drafted; the listing and the definition differ on what they do with the second face
    followed by the first, of product 1 after a highest one of 2. *)
Lemma coin_hierarchical_mean listed F :
  \sum_(t : 2.-tuple bool) joint draft_coin [::] t
    * hierarchical_mean target_coin draft_coin listed F [::] 1 1 t
  = let m w := c * F w true + 2%:R * c * F w false in
    let last := if listed then 1 else h in
    c * c * (3%:R * F [::] false + m [:: true; true] + 2%:R * m [:: true; false]
             + 2%:R * ((1 - last) * F [:: false] false + last * m [:: false; true])
             + m [:: false; false]).
Proof.
rewrite (sum_tuples 1 (fun t => joint draft_coin [::] t
  * hierarchical_mean target_coin draft_coin listed F [::] 1 1 t)) sum_faces.
have pairs (G : seq bool -> R) : \sum_(t : 1.-tuple bool) G t = G [:: true] + G [:: false].
  have single x : \sum_(t : 0.-tuple bool) G (x :: t) = G [:: x].
    by rewrite (bigD1 [tuple]) //= big1 ?addr0 // => t; rewrite tuple0.
  by rewrite (sum_tuples 0 G) sum_faces !single.
rewrite (pairs (fun t => joint draft_coin [::] (true :: t)
  * hierarchical_mean target_coin draft_coin listed F [::] 1 1 (true :: t))).
rewrite (pairs (fun t => joint draft_coin [::] (false :: t)
  * hierarchical_mean target_coin draft_coin listed F [::] 1 1 (false :: t))).
have hh_ge0 := mulr_ge0 h_ge0 h_ge0; have hh4 : 4%:R * (h * h) = 1 by from (2%:R * h + 1) h2.
have hh_le1 : h * h <= 1 by apply: (le_from (mulr_ge0 (ler0n R 3) hh_ge0)); from (- 1 : R) hh4.
have one_of n : n.+1%:R / n.+1%:R = 1 :> R by rewrite mulfV // pnatr_eq0.
have last00 : last_passes listed (h * h) (Num.max 1 (h * h)) = h * h.
  by rewrite /last_passes max_eq_l // divr1 min_eq_l //; case: (listed).
have last01 : last_passes listed (2%:R * h) (Num.max 1 (2%:R * h)) = 1.
  by rewrite /last_passes h2 max_eq_l // divr1 min_eq_l //; case: (listed).
have last10 : last_passes listed (2%:R * h) (Num.max 2%:R (2%:R * h)) = if listed then 1 else h.
  by rewrite /last_passes h2 max_eq_l ?ler1n // min_eq_l // div1r.
have last11 : last_passes listed (2%:R * 2%:R : R) (Num.max 2%:R (2%:R * 2%:R)) = 1.
  have one_le : 1 <= 2%:R * 2%:R :> R by apply: (le_from (ler0n R 3)); arith.
  have two_le : 2%:R <= 2%:R * 2%:R :> R by apply: (le_from (ler0n R 2)); arith.
  rewrite /last_passes (max_eq_r two_le) (min_eq_r one_le) mulfV; first by case: (listed).
  by rewrite gt_eqF //; apply: lt_le_trans ltr01 _.
rewrite /= !half_ratio !double_ratio !mul1r !mulr1 !max1h !max12 !divr1 !invr1.
rewrite last00 last01 last10 last11 (one_of 1%N) !passes_one !passes_half !residual_one !sum_faces.
rewrite /target_coin.
set last := if listed then 1 else h; set F0 := F [::] false.
set m := c * F [:: true; true] true + 2%:R * c * F [:: true; true] false.
from (c * c * (m - F0)) hh4.
Qed.

Let mean_of listed F : R :=
  \sum_(t : 2.-tuple bool) joint draft_coin [::] t
    * hierarchical_mean target_coin draft_coin listed F [::] 1 1 t.

(** The law of the first two tokens, and the expected accepted length. *)
Definition two_tokens_law listed (o : bool * bool) : R :=
  mean_of listed (fun w x => begins target_coin [::] (rcons w x) [:: o.1; o.2]).
Definition coin_length listed : R := mean_of listed (fun w _ => (size w)%:R).
Definition two_tokens_target (o : bool * bool) : R := target target_coin [:: o.1; o.2].

Let ninth : 9%:R^-1 = c * c. Proof. by rewrite -invfM -natrM. Qed.
Let third_of : 3%:R^-1 = 3%:R * (c * c). Proof. by rewrite -/c; from (- c) c3. Qed.

(** As listed it emits (1/9, 2/9, 1/3, 1/3), *)
Theorem listing_law :
  [/\ two_tokens_law true (true, true) = 9%:R^-1, two_tokens_law true (true, false) = 2%:R / 9%:R,
      two_tokens_law true (false, true) = 3%:R^-1 & two_tokens_law true (false, false) = 3%:R^-1].
Proof.
rewrite third_of ninth; split; rewrite /two_tokens_law /mean_of coin_hierarchical_mean /=.
- rewrite /target_coin; from (c * c) c3.
- rewrite /target_coin; from (2%:R * (c * c)) c3.
- rewrite /target_coin; from (3%:R * c * c) c3.
- rewrite /target_coin; from (3%:R * c * c) c3.
Qed.

Theorem target_two_tokens :
  [/\ two_tokens_target (true, true) = 9%:R^-1, two_tokens_target (true, false) = 2%:R / 9%:R,
      two_tokens_target (false, true) = 2%:R / 9%:R & two_tokens_target (false, false) = 4%:R / 9%:R].
Proof.
by rewrite ninth; split; rewrite /two_tokens_target /target /= /target_coin mulr1; arith.
Qed.

(** at a distance of 1/9 from the target, so that it is not exact: *)
Theorem listing_variation : total_variation (two_tokens_law true) two_tokens_target = 9%:R^-1.
Proof.
have [l00 l01 l10 l11] := listing_law; have [t00 t01 t10 t11] := target_two_tokens.
rewrite /total_variation sum_tosses l00 l01 l10 l11 t00 t01 t10 t11 third_of ninth -/h.
have d1 : 3%:R * (c * c) - 2%:R * (c * c) = c * c by arith.
have d2 : 3%:R * (c * c) - 4%:R * (c * c) = - (c * c) by arith.
have cc : 0 <= c * c by rewrite mulr_ge0.
rewrite !subrr d1 d2 normrN normr0 ger0_norm //; from (c * c) h2.
Qed.

(** it accepts 4/3 tokens in the mean, where block verification has 11/9. *)
Theorem listing_length : coin_length true = 4%:R / 3%:R /\ coin_length false = 11%:R / 9%:R.
Proof.
rewrite ninth third_of /coin_length /mean_of !coin_hierarchical_mean /=; split.
  from (12%:R * c * c) c3.
have e : (8%:R + 4%:R * h) * (3%:R * c) + 2%:R * h = (8%:R + 4%:R * h) * 1 + 1 by rewrite c3 h2.
from (c * c) e.
Qed.

End Coin.
