(** The work behind T9: the linear program's dual, and that the schedule attains it.

    Acceptance means that one of the tests accepted. (The last draw is the rule's own; it may look
    at all rejected candidates, so counting it when it lands on one of them would describe
    verifiers that see every candidate before they decide: those are bounded by T10 in optimal.v.) *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain recursive_rejection no_free_lunch.
From resispec Require Import resispec.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Upper_bound.
Variables (R : realFieldType) (V : finType).
Implicit Types (p q g : V -> R).

(** The value of optimal stopping: k draws from q are shown one by one; stopping at x pays g x,
    never stopping pays 0. *)
Fixpoint stopping_value q g k : R :=
  if k is k'.+1 then \sum_x q x * Num.max (g x) (stopping_value q g k') else 0.

Lemma stopping_value_ge0 q g k : law q -> 0 <= stopping_value q g k.
Proof.
move=> [q_ge0 _]; elim: k => //= k IH; apply: sumr_ge0 => x _; apply: mulr_ge0 => //.
exact: le_trans IH (max_right _ _).
Qed.

(** A sequential rule is a way to stop, so it cannot be paid more than the best way. *)
Lemma accepted_reward q g k s :
    law q -> proper s -> candidates_from q k s ->
  \sum_x g x * accepted s x <= stopping_value q g k.
Proof.
move=> q_law; have [q_ge0 _] := q_law.
elim: s k => [d | c s IHs t IHt | q1 a next IH] k /=.
- by move=> _ _; rewrite big1 ?stopping_value_ge0 // => x _; rewrite mulr0.
- move=> [/andP[c_ge0 c_le1] [s_proper t_proper]] st.
  have [/(IHs _ s_proper) s_le /(IHt _ t_proper) t_le] :
    candidates_from q k s /\ candidates_from q k t by case: (k) st.
  have -> : \sum_x g x * (c * accepted s x + (1 - c) * accepted t x) =
            c * (\sum_x g x * accepted s x) + (1 - c) * (\sum_x g x * accepted t x).
    by rewrite !mulr_sumr -big_split /=; apply: eq_bigr => x _; arith.
  have -> : stopping_value q g k = c * stopping_value q g k + (1 - c) * stopping_value q g k.
    by arith.
  by apply: le_plus; apply: le_scale; rewrite ?subr_ge0.
- case: k => // k [[q1_ge0 _] [a_test nx]] [q1q next_k] /=.
  have -> : \sum_y g y * step_law q1 a (fun x => accepted (next x)) y =
            \sum_x q x * (a x * g x + (1 - a x) * \sum_y g y * accepted (next x) y).
    have -> : \sum_y g y * step_law q1 a (fun x => accepted (next x)) y =
              \sum_x \sum_y q x * (a x * (g y * (y == x)%:R) + (1 - a x) * (g y * accepted (next x) y)).
      rewrite exchange_big; apply: eq_bigr => y _; rewrite /step_law mulr_sumr.
      by apply: eq_bigr => x _; rewrite q1q eq_sym; arith.
    apply: eq_bigr => x _.
    by rewrite -mulr_sumr big_split /= -!mulr_sumr mass_point.
  apply: ler_sum => x _; apply: le_scale => //; have /andP[a_ge0 a_le1] := a_test x.
  have a1_ge0 : 0 <= 1 - a x by rewrite subr_ge0.
  set best := stopping_value q g k.
  have h1 := le_scale a_ge0 (max_left (g x) best).
  have h2 := le_scale a1_ge0 (le_trans (IH x k (nx x) (next_k x)) (max_right (g x) best)).
  by have h := le_plus h1 h2; linear h.
Qed.

(** The dual of the linear program, scaled by any c >= g. *)
Lemma acceptance_le_dual_scaled c p q g k s :
    law q -> proper s -> candidates_from q k s -> emitted s =1 p -> (forall x, g x <= c) ->
  c * acceptance_rate s <= \sum_x (c - g x) * p x + stopping_value q g k.
Proof.
move=> q_law s_proper s_k exact_p gc.
have -> : c * acceptance_rate s = \sum_x (c - g x) * accepted s x + \sum_x g x * accepted s x.
  rewrite /acceptance_rate /mass mulr_sumr -big_split; apply: eq_bigr => x _ /=; arith.
apply: le_plus; last exact: accepted_reward.
apply: ler_sum => x _; apply: le_scale; rewrite ?subr_ge0 //.
by rewrite -exact_p; apply: accepted_le_emitted.
Qed.

(** T9, upper bound (weak duality). An exact sequential rule with k candidates from q, its
    residuals depending on the rejected tokens and on extra randomness in any way, accepts at
    most the dual value of the linear program, for all prices 1 - g >= 0. *)
Theorem acceptance_le_dual p q g k s :
    law q -> proper s -> candidates_from q k s -> emitted s =1 p -> (forall x, g x <= 1) ->
  acceptance_rate s <= \sum_x (1 - g x) * p x + stopping_value q g k.
Proof.
move=> q_law s_proper s_k exact_p g1.
by have h := acceptance_le_dual_scaled q_law s_proper s_k exact_p g1; rewrite mul1r in h.
Qed.

End Upper_bound.

Section Best_schedule.
Variables (R : realFieldType) (V : finType) (p q : V -> R) (W : R) (n : nat).
Hypotheses (p_law : law p) (q_law : law q).

(** n + 1 candidates; W solves S_K = W. *)
Hypothesis root : total p q W n.+1 = W.

Let p_ge0 x : 0 <= p x. Proof. by case: p_law. Qed.
Let q_ge0 x : 0 <= q x. Proof. by case: q_law. Qed.
Let S i := total p q W i.
Let u i := u p q W i.
Let w i := w p q W i.

(** Token x is kept entirely at step i: p x < q x (W - S_i). From its first step that is not
    [late] on, the schedule accepts it whenever it is proposed. *)
Let late i x := p x < q x * (W - S i).

(** The indicator of tokens no longer kept, and the proposal's mass of the kept ones. *)
Let early i x : R := (~~ late i x)%:R.
Let kept i : R := \sum_x q x * (1 - early i x).
Let spare : R := 1 - kept 0.

(** The dual solution. product i = kept (i+1) ... kept n; the value of stopping optimally from step
    i on is value i; the reward of x is built from the steps at which x is no longer kept. *)
Let product i : R := \prod_(i.+1 <= l < n.+1) kept l.
Let value i : R := spare * \sum_(i <= l < n.+1) product l.
Fixpoint reward_until i x : R :=
  if i is j.+1 then reward_until j x + spare * product i * early i x else product 0 * early 0 x.
Let reward x := reward_until n x.
Let top := product 0 + value 1.

Lemma S_up i j : (i <= j)%N -> S i <= S j.
Proof.
move=> /subnK <-; elim: (j - i)%N => [|d IH]; first by rewrite add0n.
have h : 0 <= w (d + i) by exact: w_ge0.
by apply: le_trans IH _; rewrite addSn /S total_next; linear h.
Qed.

Lemma S_le_W i : (i <= n.+1)%N -> S i <= W.
Proof. by move=> i_le; have h := S_up i_le; rewrite {2}/S root in h. Qed.

Lemma late_before i j x : (i <= j)%N -> late j x -> late i x.
Proof.
move=> ij h; apply: lt_le_trans h _; apply: le_scale => //.
by have h := S_up ij; linear h.
Qed.

Lemma early01 i x : 0 <= early i x <= 1.
Proof. by rewrite /early; case: (~~ _); rewrite ?lexx ?ler01. Qed.

Lemma early1 i x : ~~ late i x -> early i x = 1.
Proof. by rewrite /early => ->. Qed.

Lemma kept_ge0 i : 0 <= kept i.
Proof.
apply: sumr_ge0 => x _; apply: mulr_ge0 => //; rewrite subr_ge0.
by case/andP: (early01 i x).
Qed.

Lemma spare_mass : spare = \sum_x q x * early 0 x.
Proof.
have [_ q_mass] := q_law; rewrite /spare /kept -[X in X - _]q_mass -sumrB.
by apply: eq_bigr => x _; arith.
Qed.

Lemma spare_ge0 : 0 <= spare.
Proof.
rewrite spare_mass; apply: sumr_ge0 => x _.
by apply: mulr_ge0; [exact: q_ge0 | case/andP: (early01 0 x)].
Qed.

Lemma product_ge0 i : 0 <= product i.
Proof. by apply: prodr_ge0 => l _; apply: kept_ge0. Qed.

Lemma product_next i : (i < n)%N -> product i = kept i.+1 * product i.+1.
Proof. by move=> i_n; rewrite /product big_ltn. Qed.

Lemma product_last : product n = 1.
Proof. by rewrite /product big_geq. Qed.

Lemma value_next i : (i <= n)%N -> value i = spare * product i + value i.+1.
Proof. by move=> i_n; rewrite /value big_ltn // mulrDr. Qed.

Lemma value_last : value n.+1 = 0.
Proof. by rewrite /value big_geq // mulr0. Qed.

Lemma value_ge0 i : 0 <= value i.
Proof.
apply: mulr_ge0; first exact: spare_ge0.
by apply: sumr_ge0 => l _; apply: product_ge0.
Qed.

Lemma spare_le_value i : (i <= n)%N -> spare <= value i.
Proof.
move=> /subnK; move: (n - i)%N => d; elim: d i => [|d IH] i.
  by rewrite add0n => ->; rewrite (value_next (leqnn n)) value_last product_last mulr1 addr0.
rewrite addSn -addnS => di; have i_n : (i <= n)%N by rewrite ltnW // -di leq_addl.
apply: le_trans (IH _ di) _; rewrite (value_next i_n).
by have h := mulr_ge0 spare_ge0 (product_ge0 i); linear h.
Qed.

(** The proposal's mean of the reward collected until step i. *)
Lemma reward_until_mean i : (i <= n)%N -> \sum_x q x * reward_until i x = spare * product i.
Proof.
elim: i => [|i IH] i_n /=.
  rewrite spare_mass mulr_suml; apply: eq_bigr => x _; arith.
have -> : \sum_x q x * (reward_until i x + spare * product i.+1 * early i.+1 x) =
    \sum_x q x * reward_until i x + spare * product i.+1 * \sum_x q x * early i.+1 x.
  by rewrite mulr_sumr -big_split; apply: eq_bigr => x _ /=; arith.
have -> : \sum_x q x * early i.+1 x = 1 - kept i.+1.
  have [_ q_mass] := q_law; rewrite /kept -[X in X - _]q_mass -sumrB.
  by apply: eq_bigr => x _; arith.
rewrite (IH (ltnW i_n)).
rewrite (product_next i_n).
arith.
Qed.

Lemma reward_until_late i x : late i x -> reward_until i x = 0.
Proof.
have early0 j : late j x -> early j x = 0 by rewrite /early => ->.
elim: i => [|i IH] /= h; first by rewrite early0 ?mulr0.
by rewrite early0 // IH ?mulr0 ?addr0 //; apply: late_before h.
Qed.

Lemma reward_until_ge0 i x : 0 <= reward_until i x.
Proof.
have e_ge0 j : 0 <= early j x by case/andP: (early01 j x).
elim: i => [|i IH] /=; first by apply: mulr_ge0; rewrite ?product_ge0.
by apply: addr_ge0 => //; apply: mulr_ge0 => //; apply: mulr_ge0; rewrite ?spare_ge0 ?product_ge0.
Qed.

(** What is still to be collected after step i is at most value (i + 1), and all of it where x is
    no longer kept. *)
Lemma reward_rest i x : (i <= n)%N ->
  reward x <= reward_until i x + value i.+1 /\
  (~~ late i x -> reward x = reward_until i x + value i.+1).
Proof.
move=> /subnK; move: (n - i)%N => d; elim: d i => [|d IH] i.
  rewrite add0n => i_n; rewrite i_n value_last addr0 /reward -{1 2 4}i_n lexx; split=> // _.
  by rewrite i_n.
rewrite addSn -addnS => di; have i_n : (i < n)%N by rewrite -di leq_addl.
have [le_next eq_next] := IH i.+1 di; rewrite (value_next i_n).
have sp_ge0 : 0 <= spare * product i.+1 by rewrite mulr_ge0 ?spare_ge0 ?product_ge0.
split=> [|not_late].
- apply: le_trans le_next _; rewrite /=; have /andP[_ e_le1] := early01 i.+1 x.
  by have h := le_scale sp_ge0 e_le1; linear h.
- have not_late1 : ~~ late i.+1 x by apply: contra not_late; apply: late_before.
  by rewrite (eq_next not_late1) /= early1 //; arith.
Qed.

Lemma max_reward i x :
  (i <= n)%N -> Num.max (reward x) (value i.+1) = reward_until i x + value i.+1.
Proof.
move=> i_n; have [le_rest eq_rest] := reward_rest x i_n.
have [is_late|not_late] := boolP (late i x).
- rewrite reward_until_late // add0r; apply: max_eq_r.
  by rewrite reward_until_late // add0r in le_rest.
- rewrite eq_rest //; apply: max_eq_l; have h := reward_until_ge0 i x; linear h.
Qed.

Lemma value_step i : (i <= n)%N -> \sum_x q x * Num.max (reward x) (value i.+1) = value i.
Proof.
move=> i_n; rewrite (eq_bigr (fun x => q x * reward_until i x + q x * value i.+1)).
  have [_ q_mass] := q_law; rewrite big_split /= -mulr_suml [\sum_x q x]q_mass.
  by rewrite reward_until_mean // (value_next i_n); arith.
by move=> x _; rewrite max_reward // mulrDr.
Qed.

Lemma stopping_is_value k i : (k + i = n.+1)%N -> stopping_value q reward k = value i.
Proof.
elim: k i => [|k IH] i /=; first by rewrite add0n => ->; rewrite value_last.
rewrite addSn -addnS => ki; rewrite (IH _ ki) value_step //.
by rewrite -ltnS -ki leq_addl.
Qed.

(** The schedule never deviates from optimal stopping for these rewards. *)
Lemma schedule_stops_well i x : (i <= n)%N ->
  (u i x - u i.+1 x) * (reward x - value i.+1) = q x * w i * reward_until i x.
Proof.
move=> i_n; have W_i : S i <= W by apply: S_le_W; rewrite ltnW.
have W_i1 : S i.+1 <= W by apply: S_le_W.
have [is_late|not_late] := boolP (late i x).
- rewrite (reward_until_late is_late) mulr0.
  have [is_late1|not_late1] := boolP (late i.+1 x).
  + have u_p j : (S j <= W) -> late j x -> u j x = p x.
      move=> SW h; rewrite /u /resispec.u /reserved -/(S j) (@max_eq_l _ (W - S j) 0) ?subr_ge0 //.
      rewrite min_eq_l ?(ltW h) //; apply: max_eq_r.
      have t : 0 <= q x * S j by apply: mulr_ge0 => //; apply: total_ge0.
      by linear t.
    by rewrite !u_p // subrr mul0r.
  + suff -> : reward x = value i.+1 by rewrite subrr mulr0.
    have [i1_n|n_i] := ltnP i n.
    * have [_ eq_rest] := reward_rest x i1_n; rewrite eq_rest //= (reward_until_late is_late).
      by rewrite (value_next i1_n) early1 //; arith.
    * have -> : i = n by apply/eqP; rewrite eqn_leq i_n n_i.
      rewrite value_last /reward; apply: reward_until_late.
      by have <- : i = n by apply/eqP; rewrite eqn_leq i_n n_i.
- have [_ eq_rest] := reward_rest x i_n; rewrite eq_rest //.
  suff -> : u i x - u i.+1 x = q x * w i by arith.
  have p_ge : q x * (W - S i) <= p x by rewrite leNgt.
  have formula j : (i <= j)%N -> S j <= W -> u j x =
      Num.max (p x - q x * S j) (Num.min (p x) (q x * (W - S j))).
    by move=> _ SW; rewrite /u /resispec.u /reserved -/(S j) (@max_eq_l _ (W - S j) 0) ?subr_ge0.
  have min_q j : (i <= j)%N -> Num.min (p x) (q x * (W - S j)) = q x * (W - S j).
    move=> ij; apply: min_eq_r; apply: le_trans p_ge; apply: le_scale => //.
    by have h := S_up ij; linear h.
  have S1 : S i.+1 = S i + w i by [].
  rewrite !formula ?min_q // S1; have [big|small] := leP (q x * W) (p x).
  + by rewrite !max_eq_l; [arith | linear big | linear big].
  + by rewrite !max_eq_r; [arith | have h := ltW small; linear h | have h := ltW small; linear h].
Qed.

Lemma schedule_reward i : (i <= n.+1)%N -> \sum_x reward x * (u i x - u n.+1 x) = w i * value i.
Proof.
move=> /subnK; move: (n.+1 - i)%N => d; elim: d i => [|d IH] i.
  by rewrite add0n => ->; rewrite value_last mulr0 big1 // => x _; rewrite subrr mulr0.
rewrite addSn -addnS => di; have i_n : (i <= n)%N by rewrite -ltnS -di leq_addl.
have -> : \sum_x reward x * (u i x - u n.+1 x) =
    \sum_x reward x * (u i x - u i.+1 x) + \sum_x reward x * (u i.+1 x - u n.+1 x).
  by rewrite -big_split; apply: eq_bigr => x _ /=; arith.
rewrite (IH _ di).
have -> : \sum_x reward x * (u i x - u i.+1 x) =
    w i * (\sum_x q x * reward_until i x) + value i.+1 * \sum_x (u i x - u i.+1 x).
  rewrite !mulr_sumr -big_split; apply: eq_bigr => x _ /=.
  by have h := schedule_stops_well x i_n; from (1 : R) h.
have lost : \sum_x (u i x - u i.+1 x) = w i - w i.+1 by rewrite sumrB.
by rewrite reward_until_mean // (value_next i_n) lost; arith.
Qed.

Lemma total_accepted x : p x - u n.+1 x = Num.min (p x) (W * q x).
Proof.
rewrite /u /resispec.u /reserved root subrr (max_eq_l (lexx 0)) mulr0 (min_eq_r (p_ge0 x)).
case: (leP (p x) (W * q x)) => h.
- by rewrite max_eq_r ?subr0 // subr_le0 mulrC.
- by rewrite max_eq_l ?subr_ge0 1?[q x * W]mulrC ?ltW //; arith.
Qed.

(** Strong duality: the dual solution's value is what the schedule accepts (both times [top]). *)
Lemma dual_value :
  \sum_x (top - reward x) * p x + stopping_value q reward n.+1
  = top * \sum_x Num.min (p x) (W * q x).
Proof.
have stop0 : stopping_value q reward n.+1 = value 0 by apply: stopping_is_value; rewrite addn0.
have reward0 := schedule_reward (leq0n n.+1); rewrite /w w_first // mul1r in reward0.
rewrite stop0 -reward0 mulr_sumr -big_split; apply: eq_bigr => x _ /=.
have first : u 0 x = p x by exact: u_first.
rewrite -total_accepted first.
have [_ eq0] := reward_rest x (leq0n n).
suff slack : (top - reward x) * u n.+1 x = 0 by from (1 : R) slack.
have [is_late|not_late] := boolP (late 0 x); last first.
  by rewrite eq0 //= early1 // /top; arith.
have := total_accepted x; rewrite min_eq_l => [|].
  by move=> h; have -> : u n.+1 x = 0 by [from (- 1 : R) h]; rewrite mulr0.
by have h := ltW is_late; rewrite /S /= subr0 mulrC in h.
Qed.

Lemma reward_le_top x : reward x <= top.
Proof.
have [le0 _] := reward_rest x (leq0n n); apply: le_trans le0 _; rewrite /=.
have /andP[_ e_le1] := early01 0 x; have h := le_scale (product_ge0 0) e_le1.
by rewrite /top; linear h.
Qed.

(** T9. No exact sequential rule accepts more than the schedule. *)
Theorem acceptance_le_schedule s :
    proper s -> candidates_from q n.+1 s -> emitted s =1 p ->
  acceptance_rate s <= \sum_x Num.min (p x) (W * q x).
Proof.
move=> s_proper s_k exact_p.
have [spare0|spare_neq0] := eqVneq spare 0.
- apply: ler_sum => x _; apply: min_greatest.
    by rewrite -exact_p; apply: accepted_le_emitted.
  have [is_late|not_late] := boolP (late 0 x).
  + apply: le_trans (_ : p x <= _); first by rewrite -exact_p; apply: accepted_le_emitted.
    by have h := ltW is_late; rewrite /S /= subr0 mulrC in h.
  + have q0 : q x = 0.
      have zero := mass_zero (f := fun x => q x * early 0 x).
      have := zero _ _ x; rewrite /early not_late mulr1; apply.
      * by move=> y; apply: mulr_ge0 => //; case/andP: (early01 0 y).
      * by rewrite -[RHS]spare0 spare_mass.
    by have := accepted_le_proposals q_law s_proper s_k x; rewrite q0 !mulr0.
- have top_gt0 : 0 < top.
    have spare_gt0 : 0 < spare by rewrite lt_neqAle eq_sym spare_neq0 spare_ge0.
    rewrite /top; case: (posnP n) => [n0|n_gt0].
      by have -> : product 0 = 1 by [rewrite -[in LHS]n0 product_last];
         apply: lt_le_trans ltr01 _; have h := value_ge0 1; linear h.
    apply: lt_le_trans spare_gt0 _.
    by have h := le_plus (product_ge0 0) (spare_le_value n_gt0); linear h.
  have h := acceptance_le_dual_scaled q_law s_proper s_k exact_p reward_le_top.
  rewrite dual_value in h; have inv_ge0 : 0 <= top^-1 by rewrite invr_ge0 ltW.
  by have g := le_scale inv_ge0 h; rewrite !mulKf ?gt_eqF // in g.
Qed.

End Best_schedule.
