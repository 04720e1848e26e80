(** T15: a whole tree verified level by level is exact, for every weighting of the children. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain tree_output.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Level.
Variables (R : realFieldType) (V J Omega : finType).

(** The instances of a level are kept in slots J, as many as the widest level needs; Omega has room
    for the outcomes of any level. A state is what is known after some levels: the string and the
    share a of every instance (share 0 in an empty slot), and where the path may have ended already:
    a node, the extra token, and the mass. *)
Record state := State {
  string : J -> seq V;
  share : J -> R;
  stops : seq (seq V * V * R)
}.

Definition stopped (l : seq (seq V * V * R)) : R := \sum_(k <- l) k.2.

(** All of it is non-negative and adds up to 1. *)
Definition good (st : state) :=
  [/\ forall j, 0 <= share st j, forall k, k \in stops st -> 0 <= k.2 &
      \sum_j share st j + stopped (stops st) = 1].

(** How the next level is drawn, given what is known: its outcomes o have the law [chance]; slot i
    then holds a child of instance j with token y, [child o i = Some (j, y)], or is empty. [pick o i]
    is the probability that child i is picked among all of the level, once all of them are seen. *)
Record level := Draw_level {
  chance : Omega -> R;
  child : Omega -> J -> option (J * V);
  pick : Omega -> J -> R
}.

(** At most one child is picked. With no children, or none of any weight, none is. *)
Definition proper_level (l : level) :=
  [/\ law (chance l), forall o i, 0 <= pick l o i & forall o, \sum_(i | child l o i) pick l o i <= 1].

(** Picks in proportion to weights v >= 0. Where they sum to 0, as with no children, nothing is picked
    (x / 0 = 0 here). *)
Definition weighted chance (child : Omega -> J -> option (J * V)) (v : Omega -> J -> R) : level :=
  Draw_level chance child (fun o i => v o i / \sum_(i' | child o i') v o i').

(** Every weighting is such a way of picking. *)
Theorem weighted_proper chance child v :
  law chance -> (forall o i, 0 <= v o i) -> proper_level (weighted chance child v).
Proof.
move=> c_law v_ge0; split=> //= [o i | o]; first by rewrite divr_ge0 // sumr_ge0.
rewrite -mulr_suml; case: (eqVneq (\sum_(i | child o i) v o i) 0) => [-> | nz].
  by rewrite mul0r ler01.
by rewrite mulfV.
Qed.

Variable model : seq V -> V -> R.
Hypothesis model_law : forall c, law (model c).

Section One.
Variables (l : level) (st : state).

(** The targets t of the children of j, and the law sigma of the pick. *)
Definition aim (j : J) (y : V) : R := share st j * model (string st j) y.
Definition sigma (j : J) (y : V) : R :=
  \sum_o chance l o * \sum_(i | child l o i == Some (j, y)) pick l o i.

(** Child i of j with token y gets the share pick * min(1, t / sigma); *)
Definition next_share (o : Omega) (i : J) : R :=
  if child l o i is Some (j, y) then pick l o i * Num.min 1 (aim j y / sigma j y) else 0.
Definition next_string (o : Omega) (i : J) : seq V :=
  if child l o i is Some (j, y) then rcons (string st j) y else [::].

(** at j with extra token y the path ends with the mass (t - sigma)+, *)
Definition new_stops : seq (seq V * V * R) :=
  [seq ((string st u.1, u.2), floor (aim u.1) (sigma u.1) u.2) | u <- enum {: J * V}].
Definition all_stops := stops st ++ new_stops.

(** and all stops, old and new, are multiplied by one number, so that everything adds up to 1. *)
Definition factor (o : Omega) : R := (1 - \sum_i next_share o i) / stopped all_stops.
Definition advance (o : Omega) : state :=
  State (next_string o) (next_share o) [seq (k.1, factor o * k.2) | k <- all_stops].

Hypotheses (l_proper : proper_level l) (st_good : good st).

Let chance_ge0 o : 0 <= chance l o. Proof. by case: l_proper => -[]. Qed.
Let chance_mass : \sum_o chance l o = 1. Proof. by case: l_proper => -[]. Qed.
Let pick_ge0 o i : 0 <= pick l o i. Proof. by case: l_proper. Qed.

Lemma aim_ge0 j y : 0 <= aim j y.
Proof. by case: st_good => s_ge0 _ _; rewrite mulr_ge0 //; case: (model_law (string st j)). Qed.

Lemma aim_mass j : \sum_y aim j y = share st j.
Proof. by rewrite -mulr_sumr; have [_ e] := model_law (string st j); rewrite [\sum_i _]e mulr1. Qed.

Lemma sigma_ge0 j y : 0 <= sigma j y.
Proof. by apply: sumr_ge0 => o _; rewrite mulr_ge0 // sumr_ge0. Qed.

Lemma scaled_min (s t : R) : 0 <= s -> 0 <= t -> s * Num.min 1 (t / s) = Num.min t s.
Proof.
move=> s_ge0 t_ge0; case: (eqVneq s 0) => [-> | s_neq0].
  by rewrite mul0r min_eq_r.
have s_gt0 : 0 < s by rewrite lt_neqAle eq_sym s_neq0.
have back : s * (t / s) = t by rewrite mulrC mulfVK.
case: (leP 1 (t / s)) => h.
  by have := le_scale s_ge0 h; rewrite back mulr1 => ts; rewrite min_eq_r.
by have := le_scale s_ge0 (ltW h); rewrite back mulr1 => ts; rewrite min_eq_l.
Qed.

Lemma next_share_ge0 o i : 0 <= next_share o i.
Proof.
rewrite /next_share; case: (child l o i) => [[j y]|] //; rewrite mulr_ge0 //.
by apply: min_greatest; rewrite ?ler01 // divr_ge0 ?aim_ge0 ?sigma_ge0.
Qed.

Lemma next_share_le1 o : \sum_i next_share o i <= 1.
Proof.
have [_ _ /(_ o)] := l_proper; apply: le_trans; rewrite [leRHS]big_mkcond; apply: ler_sum => i _.
rewrite /next_share; case: (child l o i) => [[j y]|] //=.
rewrite -[leRHS]mulr1; apply: le_scale => //; exact: min_left.
Qed.

(** Sums over the children of a level, by parent and token. *)
Lemma by_child o (K : J * V -> R) k0 :
  \sum_i next_share o i * (if child l o i is Some u then K u else k0)
  = \sum_u K u * \sum_(i | child l o i == Some u) next_share o i.
Proof.
rewrite (eq_bigr (fun u => \sum_i if child l o i == Some u then K u * next_share o i else 0)).
  rewrite [RHS]exchange_big; apply: eq_bigr => i _ /=.
  case c_i: (child l o i) => [u|]; last by rewrite /next_share c_i mul0r big1.
  rewrite (bigD1 u) //= eqxx big1 ?addr0 1?mulrC // => v /negbTE vu.
  by case: eqP => // -[] uv; rewrite uv eqxx in vu.
by move=> u _; rewrite mulr_sumr [LHS]big_mkcond.
Qed.

(** The mean share of the children of j with token y is min(sigma, t). *)
Theorem children_mean j y :
  \sum_o chance l o * (\sum_(i | child l o i == Some (j, y)) next_share o i)
  = minimum (aim j) (sigma j) y.
Proof.
rewrite /minimum -(scaled_min (sigma_ge0 j y) (aim_ge0 j y)) [X in _ = X * _]/sigma mulr_suml.
apply: eq_bigr => o _; rewrite -mulrA mulr_suml; congr (_ * _); apply: eq_bigr => i /eqP c_i.
by rewrite /next_share c_i.
Qed.

Let kept : R := \sum_u minimum (aim u.1) (sigma u.1) u.2.

Lemma shares_mean : \sum_o chance l o * (\sum_i next_share o i) = kept.
Proof.
rewrite (eq_bigr (fun o => \sum_u chance l o * \sum_(i | child l o i == Some u) next_share o i)).
  by rewrite exchange_big; apply: eq_bigr => -[j y] _; exact: children_mean.
move=> o _; rewrite -mulr_sumr; congr (_ * _); have := by_child o (fun=> 1) 1.
rewrite (eq_bigr (next_share o)); last by move=> i _; case: (child l o i) => [u|]; rewrite mulr1.
by move=> ->; apply: eq_bigr => u _; rewrite mul1r.
Qed.

Lemma sum_new_stops (F : seq V -> V -> R) :
  \sum_(k <- new_stops) k.2 * F k.1.1 k.1.2
  = \sum_u floor (aim u.1) (sigma u.1) u.2 * F (string st u.1) u.2.
Proof. by rewrite big_map big_enum. Qed.

(** Before they are multiplied the stops have what min(sigma, t) leaves. *)
Lemma all_stops_mass : stopped all_stops = 1 - kept.
Proof.
have [_ _ <-] := st_good; rewrite /stopped big_cat /=.
have -> : \sum_(k <- new_stops) k.2 = \sum_j share st j - kept.
  have := sum_new_stops (fun _ _ => 1); rewrite (eq_bigr (fun k => k.2)); last by move=> *; rewrite mulr1.
  move=> ->; rewrite (eq_bigr _ (fun j _ => esym (aim_mass j))) pair_big /= -sumrB.
  by apply: eq_bigr => -[j y] _; have := minimum_floor (aim j) (sigma j) y => /= <-; arith.
by rewrite /=; arith.
Qed.

Lemma all_stops_ge0 k : k \in all_stops -> 0 <= k.2.
Proof.
have [_ stops_ge0 _] := st_good; rewrite mem_cat => /orP[/stops_ge0 // | /mapP[u _ ->]].
exact: floor_ge0.
Qed.

Lemma stopped_ge0 : 0 <= stopped all_stops.
Proof. by rewrite /stopped big_seq; apply: sumr_ge0 => k; exact: all_stops_ge0. Qed.

Lemma stopped_zero k : stopped all_stops = 0 -> k \in all_stops -> k.2 = 0.
Proof.
move=> zero k_in; apply: eq_of_le; last exact: all_stops_ge0.
rewrite -[leRHS]zero /stopped (big_rem k) //= -subr_ge0.
have -> : k.2 + \sum_(y <- rem k all_stops) y.2 - k.2 = \sum_(y <- rem k all_stops) y.2 by arith.
by rewrite big_seq; apply: sumr_ge0 => k' /mem_rem; exact: all_stops_ge0.
Qed.

(** The mean of every stop is what it was before it was multiplied. *)
Theorem stops_mean k : k \in all_stops -> \sum_o chance l o * (factor o * k.2) = k.2.
Proof.
move=> k_in; case: (eqVneq (stopped all_stops) 0) => [zero | nz].
  by rewrite (stopped_zero zero k_in) big1 // => o _; rewrite !mulr0.
rewrite (eq_bigr (fun o => (chance l o - chance l o * \sum_i next_share o i)
                           * (k.2 / stopped all_stops))); last by move=> o _; rewrite /factor; arith.
by rewrite -mulr_suml sumrB chance_mass shares_mean -all_stops_mass mulrCA mulfV // mulr1.
Qed.

(** If there is nothing to stop at, the shares add up to 1, in every outcome that can happen. *)
Lemma no_stops o : stopped all_stops = 0 -> 0 < chance l o -> \sum_i next_share o i = 1.
Proof.
move=> zero o_gt0.
have nonneg_gap : nonneg (fun o => chance l o * (1 - \sum_i next_share o i)).
  by move=> o'; rewrite mulr_ge0 // subr_ge0 next_share_le1.
have no_gap : mass (fun o => chance l o * (1 - \sum_i next_share o i)) = 0.
  rewrite -[RHS]zero all_stops_mass -shares_mean -[X in _ = X - _]chance_mass -sumrB.
  by apply: eq_bigr => o' _; arith.
have /eqP := mass_zero nonneg_gap no_gap o.
by rewrite mulf_eq0 (gt_eqF o_gt0) /= subr_eq0 => /eqP.
Qed.

(** The masses stay non-negative and add up to 1, in every outcome that can happen. *)
Theorem advance_good o : 0 < chance l o -> good (advance o).
Proof.
move=> o_gt0; split=> /= [i | k /mapP[k' k'_in ->] /= |]; first exact: next_share_ge0.
  rewrite mulr_ge0 ?all_stops_ge0 // divr_ge0 ?stopped_ge0 // subr_ge0; exact: next_share_le1.
rewrite /stopped big_map -mulr_sumr -/(stopped all_stops) /factor.
case: (eqVneq (stopped all_stops) 0) => [zero | nz].
  by rewrite zero mulr0 addr0; exact: no_stops.
by rewrite mulfVK //; arith.
Qed.

(** One level in the mean, for anything F that depends on where the path ends and on the extra
    token, and anything K that depends on the string of an instance. *)
Lemma level_mean (F : seq V -> V -> R) (K : seq V -> R) :
  \sum_o chance l o * (\sum_(k <- stops (advance o)) k.2 * F k.1.1 k.1.2
                       + \sum_i share (advance o) i * K (string (advance o) i))
  = \sum_(k <- stops st) k.2 * F k.1.1 k.1.2
    + \sum_u (floor (aim u.1) (sigma u.1) u.2 * F (string st u.1) u.2
              + minimum (aim u.1) (sigma u.1) u.2 * K (rcons (string st u.1) u.2)).
Proof.
have stops_part : \sum_o chance l o * (\sum_(k <- stops (advance o)) k.2 * F k.1.1 k.1.2)
    = \sum_(k <- all_stops) k.2 * F k.1.1 k.1.2.
  rewrite (eq_bigr (fun o => \sum_(k <- all_stops) chance l o * (factor o * k.2) * F k.1.1 k.1.2)).
    rewrite exchange_big /= big_seq [RHS]big_seq; apply: eq_bigr => k k_in.
    by rewrite -mulr_suml stops_mean.
  by move=> o _; rewrite /= big_map mulr_sumr; apply: eq_bigr => k _; rewrite /= mulrA.
have shares_part : \sum_o chance l o * (\sum_i share (advance o) i * K (string (advance o) i))
    = \sum_u minimum (aim u.1) (sigma u.1) u.2 * K (rcons (string st u.1) u.2).
  rewrite (eq_bigr (fun o => \sum_u (chance l o * \sum_(i | child l o i == Some u) next_share o i)
                                    * K (rcons (string st u.1) u.2))).
    rewrite exchange_big; apply: eq_bigr => -[j y] _ /=; rewrite -mulr_suml.
    by rewrite children_mean.
  move=> o _; have := by_child o (fun u => K (rcons (string st u.1) u.2)) (K [::]).
  rewrite (eq_bigr (fun i => share (advance o) i * K (string (advance o) i))).
    by move=> ->; rewrite mulr_sumr; apply: eq_bigr => u _; rewrite mulrCA mulrC.
  by move=> i _; rewrite /= /next_string; case: (child l o i) => [[j y]|].
rewrite (eq_bigr _ (fun o _ => mulrDr _ _ _)) big_split /= stops_part shares_part.
by rewrite big_cat /= sum_new_stops -addrA -big_split.
Qed.

End One.

(** A whole tree: the deepest level is reached, where every instance stops with an extra token from
    the model's law, or the next level is drawn, and how it goes on may depend on all of it. As
    everything known before is fixed when a level is drawn, its picks may depend on all that too. *)
Inductive reveal :=
| Deepest
| Reveal of level & (Omega -> reveal).

Fixpoint proper_reveal (r : reveal) : Prop :=
  if r is Reveal l next then proper_level l /\ forall o, proper_reveal (next o) else True.

(** The mean of anything that depends on where the path ends and on the extra token. *)
Fixpoint level_rule_mean (r : reveal) (st : state) (F : seq V -> V -> R) : R :=
  match r with
  | Deepest => \sum_(k <- stops st) k.2 * F k.1.1 k.1.2
               + \sum_j share st j * \sum_y model (string st j) y * F (string st j) y
  | Reveal l next => \sum_o chance l o * level_rule_mean (next o) (advance l st o) F
  end.

(** In every state that can be reached. *)
Fixpoint always (property : state -> Prop) (r : reveal) (st : state) : Prop :=
  property st /\
  if r is Reveal l next
  then forall o, 0 < chance l o -> always property (next o) (advance l st o) else True.

(** The start: one instance, the root, with share 1. *)
Variable root : J.
Definition start : state := State (fun=> [::]) (fun j => (j == root)%:R) [::].

Lemma start_good : good start.
Proof.
split=> //= [j|]; first exact: ler0n.
rewrite /stopped big_nil addr0 (bigD1 root) //= eqxx big1 ?addr0 // => j.
by move=> /negbTE ->.
Qed.

(** T15. All masses are non-negative and add up to 1, whatever has been revealed: one uniform can
    choose where the path ends and one the extra token. *)
Theorem masses_sum r : proper_reveal r -> always good r start.
Proof.
move: start start_good => st st_good; elim: r st st_good => [|l next IH] st st_good /=.
  by [].
by move=> [l_proper nexts]; split=> // o o_gt0; apply: IH; [apply: advance_good |].
Qed.

(** What counts for the output keeps its mean under the model; the masses then keep it too. *)
Definition kept_by_model (G : seq V -> R) := forall s, \sum_y model s y * G (rcons s y) = G s.
Definition worth (G : seq V -> R) (st : state) : R :=
  \sum_(k <- stops st) k.2 * G (rcons k.1.1 k.1.2) + \sum_j share st j * G (string st j).

Lemma level_martingale l st G :
    proper_level l -> good st -> kept_by_model G ->
  \sum_o chance l o * worth G (advance l st o) = worth G st.
Proof.
move=> l_proper st_good G_kept; rewrite (level_mean l_proper st_good (fun w x => G (rcons w x))).
congr (_ + _); rewrite (eq_bigr (fun u => aim st u.1 u.2 * G (rcons (string st u.1) u.2))).
  rewrite (eq_bigr (fun j => \sum_y aim st j y * G (rcons (string st j) y))) ?pair_big //.
  by move=> j _; rewrite -G_kept mulr_sumr; apply: eq_bigr => y _; rewrite mulrA.
by move=> -[j y] _ /=; rewrite -(minimum_floor (aim st j) (sigma l j) y); arith.
Qed.

Lemma levels_worth r st G :
    proper_reveal r -> good st -> kept_by_model G ->
  level_rule_mean r st (fun w x => G (rcons w x)) = worth G st.
Proof.
move=> r_proper st_good G_kept; elim: r st r_proper st_good => [|l next IH] st /=.
  by move=> _ _; congr (_ + _); apply: eq_bigr => j _; rewrite G_kept.
move=> [l_proper nexts] st_good; rewrite -(level_martingale l_proper st_good G_kept).
apply: eq_bigr => o _; have [[chance_ge0 _] _ _] := l_proper.
case: (eqVneq (chance l o) 0) => [-> | o_neq0]; first by rewrite !mul0r.
by rewrite IH //; apply: advance_good => //; rewrite lt_neqAle eq_sym o_neq0 chance_ge0.
Qed.

(** T15. The output of the rule has the target's joint law, for all ways of drawing the tree and all
    picks; the probability that it begins with s is P(s). *)
Theorem levels_exact r s :
    proper_reveal r ->
  level_rule_mean r start (fun w x => begins model [::] (rcons w x) s) = target model s.
Proof.
move=> r_proper; rewrite (levels_worth (G := fun w => begins model [::] w s) r_proper start_good).
  rewrite /worth big_nil add0r (bigD1 root) //= eqxx mul1r big1 ?addr0 ?begins_nothing // => j.
  by move=> /negbTE ->; rewrite mul0r.
by move=> w; rewrite -(begins_draw model_law [::] w s).
Qed.

End Level.
