(** T14, sufficiency: every feasible point of the linear program belongs to an exact verifier of the
    trees. (Where its paths end is a flow from trees to nodes; antichains are the cuts.) *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain optimal attained tree_output tree_bound tree_coin.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Prefixes.
Variables (R : realFieldType) (V : finType).
Implicit Types (s w m : seq V) (M : seq (seq V)).

Lemma prefix_next s w :
  (prefix s w)%:R = (w == s)%:R + \sum_y (prefix (rcons s y) w)%:R :> R.
Proof.
elim: s w => [|z s IH] [|x w].
- by rewrite big1 ?addr0.
- rewrite add0r (bigD1 x) //= eqxx prefix0s big1 ?addr0 // => y /negbTE other.
  by rewrite other.
- by rewrite big1 ?addr0.
- rewrite /= eqseq_cons [x == z]eq_sym; case: (z == x) => /=; first exact: IH.
  by rewrite big1 ?addr0.
Qed.

(** The strings of M that begin with no other string of M. *)
Definition minimal M : seq (seq V) := [seq m <- M | ~~ has (fun m' => prefix m' m && (m' != m)) M].

Lemma minimal_antichain M : uniq M -> antichain (minimal M).
Proof.
move=> M_uniq; split=> [|m m']; first exact: filter_uniq.
rewrite !mem_filter => /andP[_ mM] /andP[/hasPn least _] mm'.
by apply/eqP; have := least m mM; rewrite mm' /= negbK.
Qed.

Lemma minimal_below M w : w \in M -> has (fun m => prefix m w) (minimal M).
Proof.
move: {2}(size w) (leqnn (size w)) => k; elim: k w => [|k IH] w w_le wM;
  (case: (boolP (has (fun m' => prefix m' w && (m' != w)) M)) => [/hasP[m mM /andP[mw m_neq]] | none]; last first).
- by apply/hasP; exists w; rewrite ?mem_filter ?none ?wM // prefix_refl.
- by move: w_le m_neq mw; rewrite leqn0 size_eq0 => /eqP ->; rewrite prefixs0 => /negbTE ->.
- by apply/hasP; exists w; rewrite ?mem_filter ?none ?wM // prefix_refl.
have m_lt : (size m <= k)%N.
  rewrite -ltnS; apply: leq_trans w_le; rewrite ltn_neqAle size_prefix // andbT.
  apply: contra m_neq => /eqP same; case/prefixP: mw => u w_eq; move: same; rewrite w_eq size_cat.
  by move/eqP; rewrite -{1}[size m]addn0 eqn_add2l eq_sym size_eq0 => /eqP ->; rewrite cats0.
case/hasP: (IH m m_lt mM) => m' m'_in m'm; apply/hasP; exists m' => //; exact: prefix_trans m'm mw.
Qed.

End Prefixes.

Section Attained.
Variables (R : realFieldType) (V Omega : finType).
Variables (P : Omega -> R) (tree : Omega -> seq (seq V)) (model : seq V -> V -> R) (g : seq V -> R).
Hypotheses (P_law : law P) (tree_closed : trees tree) (model_law : forall c, law (model c)).
Hypothesis g_ok : feasible P tree model g.

Let p := target model.
Let a s := g s * p s.

(** What ends at s with the extra token y, and what ends at s. *)
Definition ends_at s y : R := p (rcons s y) * (g s - g (rcons s y)).
Definition stops_at s : R := mass (ends_at s).

Let p_ge0 s : 0 <= p s. Proof. exact: joint_ge0. Qed.
Lemma ends_at_ge0 s : nonneg (ends_at s).
Proof. by move=> y; have [_ g_le _ _] := g_ok; rewrite mulr_ge0 // subr_ge0. Qed.
Lemma stops_at_ge0 s : 0 <= stops_at s. Proof. by apply: nonneg_mass; exact: ends_at_ge0. Qed.

Lemma stops_at_next s : a s = stops_at s + \sum_y a (rcons s y).
Proof.
rewrite /stops_at /mass -big_split /= (eq_bigr (fun y => a s * model s y)).
  by have [_ one] := model_law s; rewrite -mulr_sumr [\sum_y _]one mulr1.
by move=> y _; rewrite /ends_at /a /p !target_rcons; arith.
Qed.

Let a_ge0 s : 0 <= a s. Proof. by have [_ _ h _] := g_ok; exact: h. Qed.

(** The nodes of all trees, numbered. *)
Definition nodes : seq (seq V) := undup (flatten [seq tree o | o <- enum Omega]).
Notation index := 'I_(size nodes).
Definition node (i : index) : seq V := nth [::] nodes i.
Definition shows o : {set index} := [set i | node i \in tree o].

Lemma in_nodes o s : s \in tree o -> s \in nodes.
Proof.
move=> s_in; rewrite mem_undup; apply/flattenP; exists (tree o) => //.
by apply/mapP; exists o; rewrite ?mem_enum.
Qed.

Lemma node_inj : injective node.
Proof.
move=> i j /eqP; rewrite /node nth_uniq ?undup_uniq // => /eqP; exact: val_inj.
Qed.

Lemma node_of s : s \in nodes -> exists i, node i = s.
Proof. by move=> s_in; exists (Ordinal (etrans (index_mem s nodes) s_in)); rewrite /node nth_index. Qed.

Lemma not_shown s : s \notin nodes -> a s = 0.
Proof.
move=> out; apply: eq_of_le => //; have [_ _ _ chains] := g_ok.
have anti : antichain [:: s] by split=> // m m'; rewrite !inE => /eqP -> /eqP ->.
apply: le_trans (_ : \sum_(m <- [:: s]) g m * target model m <= _); first by rewrite big_seq1.
apply: le_trans (chains _ anti) _; rewrite /contains big1 // => o /hasP[m]; rewrite inE => /eqP -> s_in.
by rewrite (in_nodes s_in) in out.
Qed.

Lemma stops_not_shown s : s \notin nodes -> stops_at s = 0.
Proof.
move=> /not_shown zero; apply: eq_of_le; last exact: stops_at_ge0.
have := stops_at_next s; rewrite zero => h.
have rest : 0 <= \sum_y a (rcons s y) by apply: sumr_ge0.
by apply: (le_from rest); from (1 : R) h.
Qed.

(** What goes through s is what ends below it. *)
Lemma through_stops s : \sum_i (prefix s (node i))%:R * stops_at (node i) = a s.
Proof.
pose depth := (\max_(i : index) size (node i)).+1.
move: {2}(depth - size s)%N (leqnn (depth - size s)) => k; elim: k s => [|k IH] s deep.
  have shallow i : (size (node i) < size s)%N.
    apply: leq_trans (_ : depth <= _)%N; last by rewrite -subn_eq0 -leqn0.
    by rewrite ltnS; exact: (leq_bigmax (F := fun i : index => size (node i)) i).
  have no_prefix i : prefix s (node i) = false.
    by apply/negP => /size_prefix; rewrite leqNgt shallow.
  rewrite big1 => [|i _]; last by rewrite no_prefix mul0r.
  rewrite not_shown //; apply/negP => /node_of[i i_s].
  by have := shallow i; rewrite i_s ltnn.
rewrite (eq_bigr (fun i => (node i == s)%:R * stops_at s
    + \sum_y (prefix (rcons s y) (node i))%:R * stops_at (node i))); last first.
  move=> i _; rewrite prefix_next mulrDl mulr_suml; congr (_ + _).
  by case: eqP => [-> | _]; rewrite ?mul0r.
rewrite big_split exchange_big /= (eq_bigr (fun y => a (rcons s y))) => [|y _]; last first.
  by apply: IH; rewrite size_rcons subnS -subn1 leq_subLR add1n.
rewrite (stops_at_next s); congr (_ + _); rewrite -mulr_suml.
case: (boolP (s \in nodes)) => [/node_of[i i_s] | out]; last by rewrite stops_not_shown // mulr0.
rewrite (bigD1 i) //= i_s eqxx big1 ?addr0 ?mul1r // => j ji.
by case: eqP => // j_s; move: ji; rewrite -(inj_eq node_inj) i_s j_s eqxx.
Qed.

(** No set of nodes is asked for more than the probability that the tree meets it. *)
Lemma met (H : {set index}) :
  \sum_(i in H) stops_at (node i) <= \sum_(o | ~~ (shows o \subset ~: H)) P o.
Proof.
have [P_ge0 _] := P_law; have [_ _ _ chains] := g_ok.
pose M := [seq node i | i <- enum H].
have M_uniq : uniq M by rewrite map_inj_uniq ?enum_uniq //; exact: node_inj.
have anti := minimal_antichain M_uniq.
apply: le_trans (_ : contains P tree (minimal M) <= _); last first.
  rewrite /contains big_mkcond [leRHS]big_mkcond; apply: ler_sum => o _.
  case: (boolP (has _ _)) => [/hasP[m] | _]; last by case: ifP.
  rewrite mem_filter => /andP[_ /mapP[j]]; rewrite mem_enum => jH -> m_in.
  suff -> : ~~ (shows o \subset ~: H) by [].
  by apply/subsetPn; exists j; rewrite !inE ?negbK.
apply: le_trans (chains _ anti).
have -> : \sum_(m <- minimal M) g m * target model m
    = \sum_i (\sum_(m <- minimal M) (prefix m (node i))%:R) * stops_at (node i).
  rewrite (eq_bigr (fun m => \sum_i (prefix m (node i))%:R * stops_at (node i))).
    by rewrite exchange_big; apply: eq_bigr => i _; rewrite mulr_suml.
  by move=> m _; rewrite through_stops.
rewrite big_mkcond; apply: ler_sum => i _; case: (boolP (i \in H)) => iH; last first.
  by rewrite mulr_ge0 ?stops_at_ge0 //; apply: sumr_ge0 => m _; exact: ler0n.
rewrite [leRHS]mulrC -[leLHS]mulr1; apply: le_scale; first exact: stops_at_ge0.
have iM : node i \in M by apply/mapP; exists i; rewrite ?mem_enum.
have /hasP[m m_in mi] := minimal_below iM.
have [min_uniq _] := anti; rewrite (bigD1_seq m) //= mi.
have rest : 0 <= \sum_(m' <- minimal M | m' != m) (prefix m' (node i))%:R :> R by apply: sumr_ge0 => *; exact: ler0n.
by linear rest.
Qed.

Lemma stops_total : \sum_i stops_at (node i) = 1.
Proof.
have [g_root _ _ _] := g_ok; have := through_stops [::]; rewrite /a g_root /p /target /= mulr1 => <-.
by apply: eq_bigr => i _; rewrite prefix0s mul1r.
Qed.

(** So the paths can end where they should. *)
Lemma ending_flow : exists f : Omega -> index -> R,
  [/\ forall o i, 0 <= f o i, forall o i, i \notin shows o -> f o i = 0,
      forall o, mass (f o) = P o & forall i, \sum_o f o i = stops_at (node i)].
Proof.
have [P_ge0 P_mass] := P_law.
have stops_ge0 : nonneg (fun i => stops_at (node i)) by move=> i; exact: stops_at_ge0.
have [|f [f_ge0 f_support f_P f_s f_all]] := transport (D := 0) (N := shows) P_ge0 stops_ge0.
  move=> H; rewrite addr0; have := met (~: H); rewrite setCK.
  have -> : \sum_(i in ~: H) stops_at (node i) = 1 - \sum_(i in H) stops_at (node i).
    rewrite -stops_total [X in X - _](bigID (mem H)) /= [LHS](eq_bigl (fun i => i \notin H)); first by arith.
    by move=> i; rewrite inE.
  have -> : \sum_(o | ~~ (shows o \subset H)) P o = 1 - all_inside P shows H.
    by rewrite -P_mass /mass /all_inside [X in X - _](bigID (fun o => shows o \subset H)) /=; arith.
  by move=> h; linear h.
have all_sent : \sum_o mass (f o) = 1.
  apply: eq_of_le; last by rewrite -P_mass; linear f_all.
  by rewrite -P_mass; apply: ler_sum => o _.
exists f; split=> //.
  by apply: below_same_mass; [exact: f_P | rewrite P_mass].
by apply: below_same_mass; [exact: f_s | rewrite [RHS]stops_total -all_sent /mass exchange_big].
Qed.

(** T14, sufficiency. Every feasible point is the g of an exact verifier. *)
Theorem feasible_is_attained : exists emit,
  [/\ tree_verifier tree emit, tree_exact P tree emit model &
      forall s, through P tree emit s = g s * target model s].
Proof.
have [f [f_ge0 f_support f_P f_s]] := ending_flow; have [P_ge0 P_mass] := P_law.
pose at_node o s := \sum_i (node i == s)%:R * f o i.
pose here o s := if P o == 0 then (s == [::])%:R else at_node o s / P o.
pose extra s y := if stops_at s == 0 then model s y else ends_at s y / stops_at s.
pose emit o s y := here o s * extra s y.
have at_node_ge0 o s : 0 <= at_node o s by apply: sumr_ge0 => i _; rewrite mulr_ge0 ?ler0n.
have here_ge0 o s : 0 <= here o s.
  by rewrite /here; case: ifP => _; rewrite ?ler0n ?divr_ge0.
have at_0 o s : P o = 0 -> at_node o s = 0.
  move=> P0; rewrite /at_node big1 // => i _.
  by rewrite (mass_zero (f := f o)) ?mulr0 // f_P.
have here_scaled o s : P o * here o s = at_node o s.
  rewrite /here; case: eqP => [P0 | /eqP nz]; first by rewrite P0 mul0r at_0.
  by rewrite mulrC mulfVK.
have extra_law s : law (extra s).
  rewrite /extra; case: eqP => [_ | /eqP nz]; first exact: model_law.
  split=> [y|]; first by rewrite divr_ge0 ?stops_at_ge0 ?ends_at_ge0.
  by rewrite /mass -mulr_suml mulfV.
have extra_scaled s y : stops_at s * extra s y = ends_at s y.
  rewrite /extra; case: eqP => [zero | /eqP nz]; last by rewrite mulrC mulfVK.
  by rewrite zero mul0r (mass_zero (f := ends_at s)) // => z; exact: ends_at_ge0.
have on_tree o (K : seq V -> R) : \sum_(s <- tree o) at_node o s * K s = \sum_i f o i * K (node i).
  rewrite (eq_bigr (fun s => \sum_i (node i == s)%:R * f o i * K s)) => [|s _]; last by rewrite mulr_suml.
  rewrite exchange_big; apply: eq_bigr => i _ /=; have [tree_uniq _ _] := tree_closed o.
  case: (boolP (node i \in tree o)) => [i_in | i_out]; last first.
    by rewrite f_support ?inE // mul0r big1 // => s _; rewrite mulr0 mul0r.
  rewrite (bigD1_seq (node i)) //= eqxx mul1r big1 ?addr0 // => s /negbTE; rewrite eq_sym => ->.
  by rewrite !mul0r.
have emit_law : tree_verifier tree emit.
  move=> o; have [tree_uniq root_in _] := tree_closed o; split=> [s y|].
    by have [extra_ge0 _] := extra_law s; rewrite mulr_ge0.
  rewrite (eq_bigr (here o)) => [|s _]; last first.
    by have [_ one] := extra_law s; rewrite -mulr_sumr [\sum_y _]one mulr1.
  rewrite /here; case: eqP => [P0 | /eqP nz].
    rewrite (bigD1_seq [::]) //= big1 ?addr0 // => s /negbTE -> //.
  by rewrite (on_tree o (fun=> (P o)^-1)) -mulr_suml -/(mass (f o)) f_P mulfV.
have mean_is G : mean P tree emit G = \sum_i stops_at (node i) * \sum_y extra (node i) y * G (node i) y.
  rewrite /mean (eq_bigr (fun o => \sum_i f o i * \sum_y extra (node i) y * G (node i) y)).
    by rewrite exchange_big; apply: eq_bigr => i _; rewrite -f_s mulr_suml.
  move=> o _; rewrite -(on_tree o (fun s => \sum_y extra s y * G s y)) mulr_sumr.
  apply: eq_bigr => s _; rewrite -here_scaled -[RHS]mulrA; congr (_ * _).
  by rewrite mulr_sumr; apply: eq_bigr => y _; rewrite /emit mulrA.
have throughs s : through P tree emit s = a s.
  rewrite /through mean_is -through_stops; apply: eq_bigr => i _; rewrite -mulr_suml.
  by have [_ one] := extra_law (node i); rewrite [\sum_y _]one mul1r mulrC.
have endings s y : ends P tree emit s y = ends_at s y.
  rewrite /ends mean_is (eq_bigr (fun i => (node i == s)%:R * ends_at s y)); last first.
    move=> i _; case: eqP => [-> | _]; last by rewrite big1 ?mulr0 ?mul0r // => x _; rewrite mulr0.
    by rewrite /= (mass_point y (extra s)) extra_scaled mul1r.
  rewrite -mulr_suml; case: (boolP (s \in nodes)) => [/node_of[i i_s] | out].
    rewrite (bigD1 i) //= i_s eqxx big1 ?addr0 ?mul1r // => j ji.
    by case: eqP => // j_s; move: ji; rewrite -(inj_eq node_inj) i_s j_s eqxx.
  have -> : ends_at s y = 0.
    by apply: (mass_zero (f := ends_at s)); [exact: ends_at_ge0 | exact: stops_not_shown].
  by rewrite mulr0.
exists emit; split=> //; apply/(tree_exact_next P_law emit_law model) => s y.
by rewrite !throughs endings /a /ends_at /p target_rcons; arith.
Qed.

(** So the linear program has the value that it says: whatever it reaches an exact verifier accepts. *)
Theorem linear_program_attained n :
    (forall o w, w \in tree o -> (size w <= n)%N) -> exists emit,
  [/\ tree_verifier tree emit, tree_exact P tree emit model &
      accepted_length P tree emit = objective model n g].
Proof.
move=> depth; have [emit [emit_law exact_P throughs]] := feasible_is_attained; exists emit; split=> //.
rewrite (length_through P emit depth); apply: eq_bigr => k _; apply: eq_bigr => t _; exact: throughs.
Qed.

End Attained.

Section Coin.
Variable R : realFieldType.

(** The fair coin of tree_coin.v: its linear program has a point of value 3/2, which is attained. *)
Theorem coin_program_attained : exists g, feasible (toss R) coin_tree (coin R) g /\ exists emit,
  [/\ tree_verifier coin_tree emit, tree_exact (toss R) coin_tree emit (coin R),
      accepted_length (toss R) coin_tree emit = objective (coin R) 2 g & objective (coin R) 2 g = 3%:R / 2%:R].
Proof.
have depth o w : w \in coin_tree o -> (size w <= 2)%N by rewrite !inE => /or4P[] /eqP ->.
have [g [ok len]] := exact_is_feasible (toss_law R) coin_trees (coin_verifier R) (coin_law R) depth (coin_tree_exact R).
have [emit [emit_law exact_P length]] := linear_program_attained (toss_law R) coin_trees (coin_law R) ok depth.
by exists g; split=> //; exists emit; split=> //; rewrite -len; exact: coin_tree_length.
Qed.

End Coin.
