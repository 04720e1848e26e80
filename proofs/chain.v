(** T3: exact steps compose, on chains and on trees, whatever each choice depended on. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Chain.
Variables (R : realFieldType) (V : finType).
Implicit Types (p q a d : V -> R).

(** A sequential rule for one position.
    [Draw d]         draw the token from d and stop: the last residual draw;
    [Toss c s t]     continue as s with probability c and as t otherwise;
    [Try q a next]   draw a candidate x from q, accept it with probability a x, and after a
                     rejection continue as [next x]. What follows may thus depend on every
                     rejected candidate, and through [Toss] on extra randomness. *)
Inductive rule :=
| Draw of (V -> R)
| Toss of R & rule & rule
| Try of (V -> R) & (V -> R) & (V -> rule).

(** All its laws are laws and all its probabilities are probabilities. *)
Fixpoint proper (s : rule) : Prop :=
  match s with
  | Draw d => law d
  | Toss c s t => 0 <= c <= 1 /\ proper s /\ proper t
  | Try q a next => law q /\ test a /\ forall x, proper (next x)
  end.

(** The law of the emitted token. *)
Fixpoint emitted (s : rule) : V -> R :=
  match s with
  | Draw d => d
  | Toss c s t => fun y => c * emitted s y + (1 - c) * emitted t y
  | Try q a next => step_law q a (fun x => emitted (next x))
  end.

(** The probability that the emitted token is y and was accepted by one of the tests. *)
Fixpoint accepted (s : rule) : V -> R :=
  match s with
  | Draw d => fun=> 0
  | Toss c s t => fun y => c * accepted s y + (1 - c) * accepted t y
  | Try q a next => step_law q a (fun x => accepted (next x))
  end.

Definition acceptance_rate s := mass (accepted s).

(** Every single step is exact for the residual target that it is given, from the target p on. *)
Fixpoint steps_exact p (s : rule) : Prop :=
  match s with
  | Draw d => d =1 p
  | Toss c s t => exists p1 p2, steps_exact p1 s /\ steps_exact p2 t /\
                                forall y, c * p1 y + (1 - c) * p2 y = p y
  | Try q a next => exists res, criterion p q (accepted_mass q a) res /\
                                forall x, steps_exact (res x) (next x)
  end.

(** The rule draws at most k candidates, each from q whatever came before. *)
Fixpoint candidates_from q k (s : rule) : Prop :=
  match s, k with
  | Draw d, _ => True
  | Toss c s t, _ => candidates_from q k s /\ candidates_from q k t
  | Try q1 a next, k.+1 => q1 =1 q /\ forall x, candidates_from q k (next x)
  | Try q1 a next, 0 => False
  end.

(** T3 for chains. Exact steps, chosen in any way, with one last residual draw, are exact. *)
Theorem chain_exact p s : steps_exact p s -> emitted s =1 p.
Proof.
elim: s p => [d | c s IHs t IHt | q a next IH] p /=.
- by [].
- by move=> [p1 [p2 [/IHs sp [/IHt tp mix]]]] y; rewrite sp tp.
- move=> [res [[_ E] res_exact]] y; rewrite step_law_mass.
  rewrite (eq_bigr (fun x => (q x - accepted_mass q a x) * res x y)) ?E; first by arith.
  by move=> x _; rewrite (IH x _ (res_exact x)).
Qed.

Lemma emitted_law s : proper s -> law (emitted s).
Proof.
elim: s => [d | c s IHs t IHt | q a next IH] //=.
- move=> [/andP[c_ge0 c_le1] [/IHs[s_ge0 s_mass] /IHt[t_ge0 t_mass]]]; split=> [y|].
  + by apply: addr_ge0; apply: mulr_ge0; rewrite ?subr_ge0.
  + by rewrite mass_plus !mass_scale s_mass t_mass; arith.
- move=> [[q_ge0 q_mass] [a_test /(_ _)/IH nx]]; split=> [y|].
  + apply: sumr_ge0 => x _; have /andP[a_ge0 a_le1] := a_test x; have [n_ge0 _] := nx x.
    by rewrite mulr_ge0 ?addr_ge0 ?mulr_ge0 ?subr_ge0 // ler0n.
  + rewrite /mass /step_law exchange_big /= -[RHS]q_mass; apply: eq_bigr => x _.
    rewrite -mulr_sumr big_split /= -!mulr_sumr.
    have -> : \sum_i emitted (next x) i = 1 by have [] := nx x.
    have -> : \sum_i (x == i)%:R = 1 :> R.
      by rewrite (bigD1 x) //= eqxx big1 ?addr0 // => i /negbTE xi; rewrite eq_sym xi.
    arith.
Qed.

(** And conversely: a rule whose emitted law is p consists of exact steps. *)
Theorem chain_exact_iff p s : proper s -> (emitted s =1 p <-> steps_exact p s).
Proof.
move=> s_proper; split; last exact: chain_exact.
elim: s p s_proper => [d | c s IHs t IHt | q a next IH] p //=.
- move=> [_ [s_proper t_proper]] st; exists (emitted s), (emitted t).
  by split; [exact: IHs | split; [exact: IHt |]].
- move=> [q_law [a_test next_proper]] st; exists (fun x => emitted (next x)); split.
  + apply/step_exact_iff => // x; exact: emitted_law.
  + by move=> x; apply: IH.
Qed.

Lemma accepted_ge0 s : proper s -> nonneg (accepted s).
Proof.
elim: s => [d | c s IHs t IHt | q a next IH] /=.
- by move=> _ y.
- move=> [/andP[c_ge0 c_le1] [/IHs s_ge0 /IHt t_ge0]] y.
  by apply: addr_ge0; apply: mulr_ge0; rewrite ?subr_ge0.
- move=> [[q_ge0 q_mass] [a_test nx]] y; apply: sumr_ge0 => x _.
  have /andP[a_ge0 a_le1] := a_test x.
  by rewrite mulr_ge0 ?addr_ge0 ?mulr_ge0 ?subr_ge0 ?ler0n ?IH.
Qed.

(** No token is accepted more often than it is emitted. *)
Lemma accepted_le_emitted s : proper s -> below (accepted s) (emitted s).
Proof.
elim: s => [d | c s IHs t IHt | q a next IH] /=.
- by case.
- move=> [/andP[c_ge0 c_le1] [/IHs s_le /IHt t_le]] y.
  by apply: le_plus; apply: le_scale; rewrite ?subr_ge0.
- move=> [[q_ge0 q_mass] [a_test nx]] y; apply: ler_sum => x _.
  have /andP[a_ge0 a_le1] := a_test x; apply: le_scale => //.
  by apply: le_plus => //; apply: le_scale; rewrite ?subr_ge0 ?IH.
Qed.

(** Of k candidates from q, one is accepted at y with probability at most k q y. *)
Lemma accepted_le_proposals q k s :
  law q -> proper s -> candidates_from q k s -> below (accepted s) (fun y => k%:R * q y).
Proof.
move=> [q_ge0 q_mass]; elim: s k => [d | c s IHs t IHt | q1 a next IH] k /=.
- by move=> _ _ y; apply: mulr_ge0; rewrite ?ler0n.
- move=> [/andP[c_ge0 c_le1] [s_proper t_proper]] st.
  have [/(IHs _ s_proper) s_le /(IHt _ t_proper) t_le] :
    candidates_from q k s /\ candidates_from q k t by case: (k) st.
  move=> y; have -> : k%:R * q y = c * (k%:R * q y) + (1 - c) * (k%:R * q y) by arith.
  by apply: le_plus; apply: le_scale; rewrite ?subr_ge0.
- case: k => // k [[q1_ge0 q1_mass] [a_test nx]] [q1q next_k] y; rewrite step_law_mass.
  have rej_le x : 0 <= q1 x - accepted_mass q1 a x <= q x.
    have /andP[a_ge0 a_le1] := a_test x; rewrite /accepted_mass -q1q.
    have h1 := le_scale (q1_ge0 x) a_le1; have h2 := mulr_ge0 (q1_ge0 x) a_ge0.
    by apply/andP; split; [linear h1 | linear h2].
  have later : \sum_x (q1 x - accepted_mass q1 a x) * accepted (next x) y <= k%:R * q y.
    have -> : k%:R * q y = \sum_x q x * (k%:R * q y) by rewrite -mulr_suml [\sum_x q x]q_mass mul1r.
    apply: ler_sum => x _; have /andP[r_ge0 r_le] := rej_le x.
    apply: le_trans (le_scale r_ge0 (IH x k (nx x) (next_k x) y)) _.
    have kq_ge0 : 0 <= k%:R * q y by apply: mulr_ge0; rewrite ?ler0n.
    by have h := le_scale kq_ge0 r_le; linear h.
  have now : accepted_mass q1 a y <= q y.
    have /andP[a_ge0 a_le1] := a_test y; rewrite /accepted_mass -q1q.
    by have h := le_scale (q1_ge0 y) a_le1; linear h.
  by rewrite -addn1 natrD; have h := le_plus now later; linear h.
Qed.

End Chain.

Section Tree.
Variables (R : realFieldType) (V : finType).

(** The target model: for every context the law of the next token. *)
Variable model : seq V -> V -> R.

(** The joint law of the tokens s that follow the context c under the target model. *)
Fixpoint joint (c s : seq V) : R :=
  match s with
  | [::] => 1
  | y :: s' => model c y * joint (rcons c y) s'
  end.

(** A walk down a candidate tree (with one candidate a node: a chain of draft tokens).
    [Extra d]        draw one token from d and stop;
    [Offer q a accepted rejected]
                     draw a candidate x from q; with probability a x emit it and go on at the
                     child [accepted x]; otherwise go on at the same place as [rejected x], with
                     the next candidate there or the residual draw.
    Everything may depend on all that was seen before. *)
Inductive walk :=
| Extra of (V -> R)
| Offer of (V -> R) & (V -> R) & (V -> walk) & (V -> walk).

(** The probability that the output starts with s, when the walk starts at the context c and the
    target model continues after the walk has stopped. *)
Fixpoint output (w : walk) (c s : seq V) : R :=
  match s with
  | [::] => 1
  | y :: s' =>
    match w with
    | Extra d => d y * joint (rcons c y) s'
    | Offer q a accepted rejected =>
        q y * a y * output (accepted y) (rcons c y) s'
        + \sum_x q x * (1 - a x) * output (rejected x) c s
    end
  end.

(** Every step of the walk is exact: at a node first reached the target is the model's law there,
    after a rejection it is the residual. *)
Fixpoint walk_exact (p : V -> R) (c : seq V) (w : walk) : Prop :=
  match w with
  | Extra d => d =1 p
  | Offer q a accepted rejected =>
      exists res, criterion p q (accepted_mass q a) res /\
        (forall x, walk_exact (res x) c (rejected x)) /\
        (forall x, walk_exact (model (rcons c x)) (rcons c x) (accepted x))
  end.


Lemma output_exact w p c y s :
  walk_exact p c w -> output w c (y :: s) = p y * joint (rcons c y) s.
Proof.
elim: w p c y s => [d | q a accepted IHa rejected IHr] p c y s /=; first by move=> ->.
move=> [res [[_ E] [r_exact a_exact]]].
have -> : output (accepted y) (rcons c y) s = joint (rcons c y) s.
  case: s => [|z s] /=; first by case: (accepted y).
  exact: (IHa y _ _ z s (a_exact y)).
rewrite (eq_bigr (fun x => (q x - accepted_mass q a x) * res x y * joint (rcons c y) s)).
  by rewrite -mulr_suml E /accepted_mass; arith.
by move=> x _; rewrite (IHr x _ _ y s (r_exact x)) /accepted_mass; arith.
Qed.

(** T3 for trees. A walk of exact steps that starts at the model's law emits tokens that, completed
    by the model, have the model's joint law: speculation leaves no trace in the output. *)
Theorem tree_walk_exact w c s : walk_exact (model c) c w -> output w c s = joint c s.
Proof. by case: s => [|y s]; [case: w | move=> /output_exact ->]. Qed.

End Tree.
