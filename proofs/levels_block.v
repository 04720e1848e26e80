(** T15 with one child a node: the stops, too, are those of block verification. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain tree_output levels levels_chain.
From resispec Require Import levels_through.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Block.
Variables (R : realFieldType) (V J : finType) (model draft : seq V -> V -> R) (root : J).
Hypotheses (model_law : forall c, law (model c)) (draft_law : forall c, law (draft c)).
Variable F : seq V -> V -> R.

(** Block verification after the tokens c, with the weight w there: the residual (w p - q)+, and the
    probability with which the prefix c passes, if further tokens were drafted. *)
Definition spare c (w : R) : V -> R := floor (fun y => w * model c y) (draft c).
Definition passes c (w : R) : R := mass (spare c w) / (mass (spare c w) + (1 - w)).
Definition next_weight c (w : R) x : R := Num.min 1 (w * model c x / draft c x).

(** The probability that, of c and its continuations by the drafted tokens s, none passes; the last
    one passes with its weight. *)
Fixpoint misses c w s : R :=
  if s is x :: s' then (1 - passes c w) * misses (rcons c x) (next_weight c w x) s' else 1 - w.

(** The mean of F over what block verification emits: the longest prefix that passes, and an extra
    token from its residual; after the last drafted token, from the model. *)
Fixpoint block_mean c w s : R :=
  if s is x :: s'
  then passes c w * misses (rcons c x) (next_weight c w x) s'
         * (\sum_y normalise (model c) (spare c w) y * F c y)
       + block_mean (rcons c x) (next_weight c w x) s'
  else w * \sum_y model c y * F c y.

(** The same for the level rule, where all has been revealed. *)
Definition end_mean (st : state R V J) : R := level_rule_mean model (Deepest R V J V) st F.

Section Step.
Variables (c : seq V) (st : state R V J) (x : V).
Hypotheses (st_good : good st) (st_single : single root c st) (x_possible : 0 < draft c x).
Let l := chain_level draft root c.
Let w := share st root.

Let sum_slots (f : J -> R) : (forall i, i != root -> f i = 0) -> \sum_i f i = f root.
Proof. by move=> zero; rewrite (bigD1 root) //= big1 ?addr0. Qed.

Lemma weight_le1 : 0 <= w <= 1.
Proof.
have [_ others] := st_single; have [s_ge0 stops_ge0 <-] := st_good; rewrite /w s_ge0 sum_slots //=.
have h : 0 <= stopped (stops st) by rewrite /stopped big_seq; apply: sumr_ge0 => k; exact: stops_ge0.
by linear h.
Qed.

Lemma new_stops_sum (G : seq V -> V -> R) :
  \sum_(k <- new_stops model l st) k.2 * G k.1.1 k.1.2 = \sum_y spare c w y * G c y.
Proof.
have [st_c others] := st_single; have l_proper := chain_level_proper root draft_law c.
rewrite sum_new_stops -(pair_big xpredT xpredT (fun j y =>
  floor (aim model st j) (sigma l j) y * G (string st j) y)) /= sum_slots => [|i /others zero].
  by apply: eq_bigr => y _; rewrite /spare /floor /aim chain_sigma st_c.
rewrite big1 // => y _; rewrite /floor /aim zero mul0r max_eq_r ?mul0r // sub0r oppr_le0.
exact: sigma_ge0.
Qed.

Lemma all_stops_spare : stopped (all_stops model l st) = mass (spare c w) + (1 - w).
Proof.
have [_ others] := st_single; have [_ _ <-] := st_good.
rewrite /stopped /all_stops big_cat /= sum_slots //.
have -> : \sum_(k <- new_stops model l st) k.2 = mass (spare c w).
  transitivity (\sum_(k <- new_stops model l st) k.2 * 1); first by apply: eq_bigr => *; rewrite mulr1.
  by rewrite (new_stops_sum (fun _ _ => 1)); apply: eq_bigr => *; rewrite mulr1.
by rewrite /w; arith.
Qed.

Lemma next_total : \sum_i next_share model l st x i = next_weight c w x.
Proof.
have [st_c others] := st_single.
rewrite sum_slots => [|i /negbTE i_root]; last by rewrite /next_share /= i_root.
by have [-> _] := chain_share model draft root c st x; rewrite st_c.
Qed.

(** One more token revealed: the stops are multiplied and the residual joins them. *)
Lemma step_stops :
  \sum_(k <- stops (advance model l st x)) k.2 * F k.1.1 k.1.2
  = (1 - next_weight c w x) / (mass (spare c w) + (1 - w))
    * (\sum_(k <- stops st) k.2 * F k.1.1 k.1.2 + \sum_y spare c w y * F c y).
Proof.
rewrite -all_stops_spare -next_total -/(factor model l st x) -(new_stops_sum F) -big_cat /=.
by rewrite big_map mulr_sumr; apply: eq_bigr => k _; rewrite /= mulrA.
Qed.

(** If nothing could be emitted after c, the target and the draft agree there. *)
Lemma nothing_spare : mass (spare c w) + (1 - w) = 0 ->
  [/\ w = 1, spare c w =1 (fun=> 0) & next_weight c w x = 1].
Proof.
have [w_ge0 w_le1] := andP weight_le1; have spare_ge0 : nonneg (spare c w) by exact: floor_ge0.
have m_ge0 := nonneg_mass spare_ge0; move=> zero.
have w_1 : w - 1 = mass (spare c w) by from (- 1 : R) zero.
have w1 : w = 1 by apply: eq_of_le => //; rewrite -subr_ge0 w_1.
have m0 : mass (spare c w) = 0 by rewrite w1 subrr addr0 in zero; rewrite w1.
have no_spare := mass_zero spare_ge0 m0; split=> //.
have le y : model c y <= draft c y.
  have : w * model c y - draft c y <= spare c w y by exact: max_left.
  by rewrite no_spare w1 mul1r subr_le0.
have [_ m1] := model_law c; have [_ d1] := draft_law c.
have same : model c =1 draft c by apply: below_same_mass => //; rewrite m1 d1.
by rewrite /next_weight w1 mul1r same mulfV ?gt_eqF // min_eq_l.
Qed.

End Step.

(** What the stops of now are multiplied by until s has been revealed. *)
Fixpoint shrunk c w s : R :=
  if s is x :: s'
  then (1 - next_weight c w x) / (mass (spare c w) + (1 - w)) * shrunk (rcons c x) (next_weight c w x) s'
  else 1.

Lemma misses_shrunk c st s :
    good st -> single root c st -> 0 < joint draft c s ->
  misses c (share st root) s = (1 - share st root) * shrunk c (share st root) s.
Proof.
elim: s c st => [|x s IH] c st st_good st_single /=; first by rewrite mulr1.
move=> possible.
have [d_ge0 _] := draft_law c; have x_possible : 0 < draft c x.
  by rewrite lt_neqAle d_ge0 andbT; apply: contraTneq possible => <-; rewrite mul0r ltxx.
have s_possible : 0 < joint draft (rcons c x) s by rewrite -(pmulr_rgt0 _ x_possible).
set w := share st root; have [st_c _] := st_single.
have next : share (advance model (chain_level draft root c) st x) root = next_weight c w x.
  by have [sh _] := chain_share model draft root c st x; rewrite /= sh st_c.
have := IH (rcons c x) (advance model (chain_level draft root c) st x).
rewrite next => ->; first last.
- exact: s_possible.
- exact: advance_single.
- by apply: advance_good => //; exact: chain_level_proper.
rewrite /passes; case: (eqVneq (mass (spare c w) + (1 - w)) 0) => [zero | nz].
  have [w1 _ n1] := nothing_spare st_good st_single x_possible zero.
  by rewrite n1 [X in _ = (1 - X) * _]w1 !subrr !mul0r mulr0.
set D := mass _ + _ in nz *; have -> : 1 - mass (spare c w) / D = (1 - w) / D.
  have inv : D / D = 1 by rewrite mulfV.
  by rewrite -[X in X - _]inv /D; arith.
arith.
Qed.

Lemma after_block c st s :
    good st -> single root c st -> 0 < joint draft c s ->
  end_mean (after model (chain_reveal draft root (size s) c) st s)
  = shrunk c (share st root) s * (\sum_(k <- stops st) k.2 * F k.1.1 k.1.2)
    + block_mean c (share st root) s.
Proof.
elim: s c st => [|x s IH] c st st_good st_single.
  move=> _; have [st_c others] := st_single; rewrite /end_mean /= mul1r; congr (_ + _).
  by rewrite (bigD1 root) //= st_c [X in _ + X]big1 ?addr0 // => i /others ->; rewrite mul0r.
move=> /= possible.
have [d_ge0 _] := draft_law c; have x_possible : 0 < draft c x.
  by rewrite lt_neqAle d_ge0 andbT; apply: contraTneq possible => <-; rewrite mul0r ltxx.
have s_possible : 0 < joint draft (rcons c x) s by rewrite -(pmulr_rgt0 _ x_possible).
have [st_c _] := st_single; set l := chain_level draft root c.
have next : share (advance model l st x) root = next_weight c (share st root) x.
  by have [sh _] := chain_share model draft root c st x; rewrite /= sh st_c.
have next_good : good (advance model l st x) by apply: advance_good => //; exact: chain_level_proper.
have next_single := advance_single model draft x st_single.
have miss := misses_shrunk next_good next_single s_possible.
rewrite (IH (rcons c x) _ next_good next_single s_possible) next step_stops //.
rewrite next in miss; rewrite miss.
rewrite (eq_bigr (fun y => mass (spare c (share st root))
  * (normalise (model c) (spare c (share st root)) y * F c y))); last first.
  by move=> y _; rewrite mulrA mass_normalise //; exact: floor_ge0.
rewrite -mulr_sumr /passes; arith.
Qed.

(** T15 for chains, complete. However the tokens s were drafted, the level rule ends the path where
    block verification does, and draws the extra token from the same law. *)
Theorem chain_ends_as_block s :
    0 < joint draft [::] s ->
  end_mean (after model (chain_reveal draft root (size s) [::]) (start R V root) s) = block_mean [::] 1 s.
Proof.
move=> possible; have one : single root [::] (start R V root).
  by split=> //= i /negbTE ->.
by rewrite (after_block (start_good R V root) one possible) big_nil mulr0 add0r /= eqxx.
Qed.

End Block.
