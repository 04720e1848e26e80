(** T16, the upper half: what one level can accept, however its children are picked; and a coin with
    two candidates at the root and one below each. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain tree_output levels levels_chain.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Bound.
Variables (R : realFieldType) (V J Omega : finType) (model : seq V -> V -> R).
Hypothesis model_law : forall c, law (model c).
Variables (l : level R V J Omega) (st : state R V J).
Hypotheses (l_proper : proper_level l) (st_good : good st).

(** The probability that some child lies in H, a set of pairs of an instance and a token. *)
Definition some_child (H : {set J * V}) : R :=
  \sum_(o | [exists i, if child l o i is Some u then u \in H else false]) chance l o.

Lemma sigma_inside (H : {set J * V}) : \sum_(u in H) sigma l u.1 u.2 <= some_child H.
Proof.
have [[chance_ge0 _] pick_ge0 pick_le1] := l_proper.
rewrite /sigma exchange_big /some_child [leRHS]big_mkcond; apply: ler_sum => o _ /=.
rewrite -mulr_sumr.
have -> : \sum_(u in H) \sum_(i | child l o i == Some (u.1, u.2)) pick l o i
    = \sum_(i | if child l o i is Some u then u \in H else false) pick l o i.
  rewrite (exchange_big_dep (fun i => if child l o i is Some u then u \in H else false)) /=.
    apply: eq_bigr => i; case c_i: (child l o i) => [u|] // u_in; rewrite (big_pred1 u) // => -[j y] /=.
    by apply/andP/eqP => [[_ /eqP[->]] | ->].
  by move=> [j y] i u_in /eqP ->.
case: ifP => [_ | /existsP none].
  rewrite -[leRHS]mulr1; apply: le_scale => //; apply: le_trans (pick_le1 o).
  rewrite big_mkcond [leRHS]big_mkcond; apply: ler_sum => i _.
  by case: (child l o i) => [u|] //=; case: ifP.
rewrite big1 ?mulr0 // => i inside; by case: none; exists i.
Qed.

(** T16. For every set H of pairs, whatever the picks:
    sum_j |min(sigma_j, t_j)| <= t(outside H) + Pr(some child in H). *)
Theorem level_bound (H : {set J * V}) :
  \sum_u minimum (aim model st u.1) (sigma l u.1) u.2
  <= \sum_(u | u \notin H) aim model st u.1 u.2 + some_child H.
Proof.
apply: le_trans (le_plus (lexx _) (sigma_inside H)).
rewrite (bigID (fun u => u \notin H)) /=; apply: le_plus.
  by apply: ler_sum => u _; exact: min_left.
rewrite (eq_bigl (mem H)) => [|u]; last by rewrite negbK.
by apply: ler_sum => u _; exact: min_right.
Qed.

(** That is what the level rule keeps among the children in the mean. *)
Theorem level_accepts (H : {set J * V}) :
  \sum_o chance l o * (\sum_i next_share model l st o i)
  <= \sum_(u | u \notin H) aim model st u.1 u.2 + some_child H.
Proof. rewrite shares_mean //; exact: level_bound. Qed.

End Bound.

Section Coin.
Variable R : realFieldType.

Let h : R := 2%:R^-1.
Lemma coin_halves : h + h = 1.
Proof.
have e : 2%:R * h = 1 by rewrite mulfV // pnatr_eq0.
by from (1 : R) e.
Qed.
Lemma coin_half_ge0 : 0 <= h. Proof. by rewrite invr_ge0 ler0n. Qed.

Lemma quarter : 4%:R^-1 = h * h :> R. Proof. by rewrite /h -invfM -natrM. Qed.

(** The target shows heads three times in four; the draft is a fair coin. Two slots; an outcome of a
    level is two tosses. *)
Definition biased : seq bool -> bool -> R := fun _ y => if y then h + h * h else h * h.
Definition two_tosses : bool * bool -> R := fun=> h * h.

Lemma sum_tosses (F : bool * bool -> R) :
  \sum_o F o = F (true, true) + F (true, false) + F (false, true) + F (false, false).
Proof.
rewrite (eq_bigr (fun o => F (o.1, o.2))) => [|[] //].
by rewrite -(pair_big xpredT xpredT (fun x y => F (x, y))) /= big_bool !big_bool /= addrA.
Qed.

Lemma two_tosses_law : law two_tosses.
Proof.
split=> [o|]; first by rewrite mulr_ge0 ?coin_half_ge0.
by rewrite /mass sum_tosses /two_tosses; have e := coin_halves; from (h + h + 1) e.
Qed.

Lemma biased_law c : law (biased c).
Proof.
have hh : 0 <= h * h by rewrite mulr_ge0 ?coin_half_ge0.
split=> [y|]; first by rewrite /biased; case: y => //; rewrite addr_ge0 ?coin_half_ge0.
by rewrite /mass big_bool /biased /=; have e := coin_halves; from (h + 1) e.
Qed.

(** Both tosses are children of the root, which is in the slot [true]; on the next level every
    instance has one child. *)
Definition tossed (o : bool * bool) (i : bool) : bool := if i then o.1 else o.2.
Definition at_root (v : bool * bool -> bool -> R) : level R _ _ _ :=
  weighted two_tosses (fun o i => Some (true, tossed o i)) v.
Definition below_each (v : bool * bool -> bool -> R) : level R _ _ _ :=
  weighted two_tosses (fun o i => Some (i, tossed o i)) v.

(** Two levels, with weights of the second that depend on what the first has shown. *)
Definition coin_levels v (w : bool * bool -> bool * bool -> bool -> R) : reveal R _ _ _ :=
  Reveal (at_root v) (fun o => Reveal (below_each (w o)) (fun=> Deepest _ _ _ _)).

(** Their output is that of the biased coin, for all weights. *)
Theorem coin_levels_exact v w s :
    (forall o i, 0 <= v o i) -> (forall o o' i, 0 <= w o o' i) ->
  level_rule_mean biased (coin_levels v w) (start R _ true)
    (fun p x => begins biased [::] (rcons p x) s) = target biased s.
Proof.
move=> v_ge0 w_ge0; apply: levels_exact; first exact: biased_law.
by split=> [|o]; [| split=> //]; apply: weighted_proper => //; exact: two_tosses_law.
Qed.

(** With equal weights the root accepts 3/4 of a token in the mean, *)
Definition equal : bool * bool -> bool -> R := fun _ _ => 1.

Lemma root_sigma v y :
  sigma (at_root v) true y = h * h * \sum_o \sum_i (tossed o i == y)%:R * pick (at_root v) o i.
Proof.
rewrite /sigma mulr_sumr; apply: eq_bigr => o _; congr (_ * _).
rewrite big_mkcond; apply: eq_bigr => i _ /=; rewrite (_ : (_ == _) = (tossed o i == y)).
  by case: (tossed o i == y); rewrite ?mul1r ?mul0r.
by apply/eqP/eqP => [[] | ->].
Qed.

Lemma root_accepts v :
    (forall o i, 0 <= v o i) ->
  \sum_o chance (at_root v) o * (\sum_i next_share biased (at_root v) (start R _ true) o i)
  = Num.min (h + h * h) (sigma (at_root v) true true) + Num.min (h * h) (sigma (at_root v) true false).
Proof.
move=> v_ge0; rewrite (shares_mean biased_law); last exact: start_good; last first.
  by apply: weighted_proper => //; exact: two_tosses_law.
have none y : minimum (aim biased (start R _ true) false) (sigma (at_root v) false) y = 0.
  rewrite /minimum /aim /= mul0r min_eq_l //; apply: sigma_ge0.
  by apply: weighted_proper => //; exact: two_tosses_law.
by rewrite sum_tosses /= !none !addr0 /minimum /aim /= !mul1r.
Qed.

Theorem equal_weights_accept :
  \sum_o chance (at_root equal) o
    * (\sum_i next_share biased (at_root equal) (start R _ true) o i) = 3%:R / 4%:R.
Proof.
rewrite root_accepts => [|o i]; last exact: ler01.
have e := coin_halves.
have p o i : pick (at_root equal) o i = h by rewrite /= big_bool /= div1r.
rewrite !root_sigma !sum_tosses !big_bool !p /=.
rewrite [X in Num.min (h + h * h) X](_ : _ = h); last by from (h * (h + h + 1)) e.
rewrite [X in Num.min (h * h) X](_ : _ = h); last by from (h * (h + h + 1)) e.
have hh : 0 <= h * h by rewrite mulr_ge0 ?coin_half_ge0.
rewrite min_eq_r ?min_eq_l; first by rewrite quarter; from (- h) e.
- by rewrite -[leRHS]mulr1; apply: le_scale; [exact: coin_half_ge0 | rewrite -e; linear coin_half_ge0].
- by linear hh.
Qed.

(** and with all weight on heads where there are any, the whole of it. *)
Definition heads_first (o : bool * bool) (i : bool) : R := (tossed o i || ~~ (o.1 || o.2))%:R.

Theorem heads_first_accept :
  \sum_o chance (at_root heads_first) o
    * (\sum_i next_share biased (at_root heads_first) (start R _ true) o i) = 1.
Proof.
rewrite root_accepts => [|o i]; last exact: ler0n.
have e := coin_halves.
rewrite !root_sigma !sum_tosses !big_bool /= !big_bool /heads_first /= add0r !addr0 !divr1 -/h.
rewrite !mul0r !mulr0 ?addr0 ?add0r.
rewrite [X in Num.min (h + h * h) X](_ : _ = h + h * h); last by from (h * (h + 1)) e.
rewrite [X in Num.min (h * h) X](_ : _ = h * h); last by from (h * h) e.
by rewrite !min_eq_l //; from (h + 1) e.
Qed.

(** T16's bound for the set of heads: 1/4 + 3/4. *)
Theorem coin_level_bound v :
  \sum_(u | u \notin [set u | u.2]) aim biased (start R _ true) u.1 u.2
  + some_child (at_root v) [set u | u.2] = 4%:R^-1 + 3%:R / 4%:R.
Proof.
have e := coin_halves; have some o :
    [exists i, if child (at_root v) o i is Some u then u \in [set u | u.2] else false] = o.1 || o.2.
  apply/existsP/orP => [[[] /=] | [o1 | o2]]; rewrite ?inE /=; [by left | by right | |].
    by exists true; rewrite /= inE.
  by exists false; rewrite /= inE.
rewrite /some_child big_mkcond [X in _ + X]big_mkcond !sum_tosses !some !in_set /= /aim /two_tosses /=.
by rewrite quarter; arith.
Qed.

(** Two tosses in a chain, the same target: block verification accepts through heads, tails, two heads
    and tails-heads with these probabilities; token by token the last would be 1/4 * 1/2. *)
Theorem coin_block :
  [/\ block_through biased (fun _ _ => h) [:: true] = 2%:R / 4%:R,
      block_through biased (fun _ _ => h) [:: false] = 1%:R / 4%:R,
      block_through biased (fun _ _ => h) [:: true; true] = 4%:R / 16%:R &
      block_through biased (fun _ _ => h) [:: false; true] = 3%:R / 16%:R].
Proof.
have e := coin_halves; have h_ge0 := coin_half_ge0.
have hh : 0 <= h * h by rewrite mulr_ge0.
have hhhh : 0 <= h * h * (h * h) by rewrite mulr_ge0.
have d_law (c : seq bool) : law (fun _ : bool => h) by split=> [_|]; rewrite ?coin_half_ge0 // /mass big_bool.
have q16 : 16%:R^-1 = h * h * (h * h) :> R by rewrite -quarter -invfM -natrM.
have at0 : block_through biased (fun _ _ => h) [::] = 1 by rewrite /block_through mul1r.
have heads : block_through biased (fun _ _ => h) [:: true] = h.
  rewrite (block_through_next biased_law d_law [::]) at0 /biased /= mul1r mulr1 min_eq_r //.
  by linear hh.
have tails : block_through biased (fun _ _ => h) [:: false] = h * h.
  rewrite (block_through_next biased_law d_law [::]) at0 /biased /= mul1r mulr1 min_eq_l //.
  by apply: (le_from hh); from (- h) e.
rewrite quarter q16; split.
- by rewrite heads; from (- h) e.
- by rewrite tails; arith.
- rewrite (block_through_next biased_law d_law [:: true]) heads /biased /= mulr1 min_eq_r.
    by from (- (h * h * (h + h + 1))) e.
  by apply: (le_from (mulr_ge0 h_ge0 hh)); arith.
- rewrite (block_through_next biased_law d_law [:: false]) tails /biased /= mulr1 min_eq_l.
    by from (- (h * h * h)) e.
  by apply: (le_from hhhh); from (- (h * h * (h + 1))) e.
Qed.

End Coin.
