(** T10, attained: for every law of candidate sets there is an exact verifier that accepts the bound.
    (Max-flow min-cut between outcomes and tokens, by induction on the edges.) *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain recursive_rejection die optimal frontier.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Least.
Variables (R : realFieldType) (T : finType) (ok : pred T) (F : T -> R) (b : R).

(** The least of b and finitely many numbers. *)
Lemma least : exists t, [/\ t <= b, forall i, ok i -> t <= F i & t = b \/ exists2 i, ok i & t = F i].
Proof.
suff [t [tb all_le one]] : exists t, [/\ t <= b, forall i, i \in enum T -> ok i -> t <= F i
    & t = b \/ exists2 i, ok i & t = F i].
  by exists t; split=> // i; apply: all_le; rewrite mem_enum.
elim: (enum T) => [|j s [t [tb all_le one]]]; first by exists b; split=> //; left.
case: (boolP (ok j)) => [ok_j | not_j]; last first.
  exists t; split=> // i; rewrite inE => /orP[/eqP -> ok_j|]; [by rewrite ok_j in not_j | exact: all_le].
case: (leP t (F j)) => [le | lt].
  by exists t; split=> // i; rewrite inE => /orP[/eqP -> | /all_le].
exists (F j); split; [exact: le_trans (ltW lt) tb | | by right; exists j].
by move=> i; rewrite inE => /orP[/eqP -> // | /all_le h /h]; apply: le_trans; exact: ltW.
Qed.

End Least.

Section Flow.
Variables (R : realFieldType) (V Omega : finType).
Implicit Types (P : Omega -> R) (N : Omega -> {set V}) (c : V -> R) (H : {set V}).

Lemma inside_sum P N H : all_inside P N H = \sum_o (N o \subset H)%:R * P o.
Proof. by rewrite /all_inside big_mkcond; apply: eq_bigr => o _; case: ifP; rewrite ?mul1r ?mul0r. Qed.

Lemma in_set_sum c H : \sum_(y in H) c y = \sum_y (y \in H)%:R * c y.
Proof. by rewrite big_mkcond; apply: eq_bigr => y _; case: ifP; rewrite ?mul1r ?mul0r. Qed.

Lemma at_one (T : finType) (x : T) (k : R) (F : T -> R) :
  \sum_i ((i == x)%:R * k + F i) = k + \sum_i F i.
Proof.
rewrite big_split /= (eq_bigr (fun i => k * (i == x)%:R)) => [|i _]; last exact: mulrC.
by rewrite -mulr_sumr (bigD1 x) //= eqxx big1 ?addr0 ?mulr1 // => i /negbTE ->.
Qed.

(** Q is supermodular, and if the candidates of o are in the union alone, P o is gained. *)
Lemma inside_union P N o H1 H2 :
    nonneg P -> ~~ (N o \subset H1) -> ~~ (N o \subset H2) -> N o \subset H1 :|: H2 ->
  P o + all_inside P N H1 + all_inside P N H2 <= all_inside P N (H1 :|: H2) + all_inside P N (H1 :&: H2).
Proof.
move=> P_ge0 out1 out2 in12; rewrite !inside_sum -addrA -!big_split /= -(at_one o); apply: ler_sum => i _.
have Pi := P_ge0 i; rewrite subsetI; case: (eqVneq i o) => [-> | _].
  by rewrite (negbTE out1) (negbTE out2) in12 /= !mul0r !addr0.
have up1 : N i \subset H1 -> N i \subset H1 :|: H2 by move=> s; apply: subset_trans s (subsetUl _ _).
have up2 : N i \subset H2 -> N i \subset H1 :|: H2 by move=> s; apply: subset_trans s (subsetUr _ _).
rewrite mul0r add0r; case s1: (N i \subset H1); case s2: (N i \subset H2);
  rewrite ?(up1 s1) ?(up2 s2) /= ?mul0r ?mul1r ?addr0 ?add0r //.
by rewrite mulr_ge0 ?ler0n.
Qed.

Lemma modular c H1 H2 :
  \sum_(y in H1) c y + \sum_(y in H2) c y = \sum_(y in H1 :|: H2) c y + \sum_(y in H1 :&: H2) c y.
Proof.
rewrite !in_set_sum -!big_split; apply: eq_bigr => y _; rewrite !inE /=.
by case: (y \in H1); case: (y \in H2); rewrite /= ?mul0r ?mul1r; arith.
Qed.

(** Outcomes supply P, tokens take c at most, o may send to N o. If everything but D passes every cut,
    everything but D can be sent. *)
Lemma transport D P N c :
    nonneg P -> nonneg c -> (forall H, all_inside P N H <= \sum_(y in H) c y + D) ->
  exists f : Omega -> V -> R,
    [/\ forall o y, 0 <= f o y, forall o y, y \notin N o -> f o y = 0, forall o, mass (f o) <= P o,
        forall y, \sum_o f o y <= c y & mass P - D <= \sum_o mass (f o)].
Proof.
have [n] : {n | \sum_o #|N o| = n}%N by exists (\sum_o #|N o|)%N.
elim: n P N c => [|n IH] P N c size_N P_ge0 c_ge0 cuts.
  have zero : mass (fun _ : V => 0 : R) = 0 by rewrite /mass big1.
  exists (fun _ _ => 0); split=> [// | // | o | y |]; [by rewrite zero | by rewrite big1 |].
  rewrite big1 => [|o _]; last exact: zero.
  have empty o : N o \subset set0.
    rewrite subset0 -cards_eq0; apply/eqP; move/eqP: size_N; rewrite sum_nat_eq0 => /forallP /(_ o).
    by move/eqP.
  have := cuts set0; rewrite big_set0 add0r /all_inside (eq_bigl xpredT) => [h|o]; last by rewrite empty.
  by rewrite -/(mass P) in h; linear h.
have [o /set0Pn[y y_in]] : exists o, N o != set0.
  apply/existsP; rewrite -negb_forall; apply/negP => /forallP none; move: size_N.
  by rewrite big1 // => o _; apply/eqP; rewrite cards_eq0.
pose slack H := \sum_(z in H) c z + D - all_inside P N H.
have slack_ge0 H : 0 <= slack H by rewrite subr_ge0.
have [t [t_le t_slack t_is]] :=
  least (fun H => (y \in H) && ~~ (N o \subset H)) slack (Num.min (P o) (c y)).
have t_P : t <= P o := le_trans t_le (min_left _ _).
have t_c : t <= c y := le_trans t_le (min_right _ _).
have t_ge0 : 0 <= t by case: t_is => [-> | [H _ ->] //]; exact: min_greatest.
(* what stays with o finds room in every set without y *)
have enough H : y \notin H -> N o :\ y \subset H -> P o <= slack H + t.
  move=> y_out rest; have o_out : ~~ (N o \subset H) by apply: contra y_out => /subsetP; apply.
  have in_U : N o \subset y |: H.
    by apply/subsetP => z z_in; rewrite !inE; case: eqP => //= /eqP zy; apply: (subsetP rest); rewrite !inE zy.
  have room_y : P o + all_inside P N H <= c y + \sum_(z in H) c z + D.
    have := cuts (y |: H); rewrite big_setU1 //=; apply: le_trans.
    rewrite !inside_sum -(at_one o); apply: ler_sum => i _; case: (eqVneq i o) => [-> | _].
      by rewrite in_U (negbTE o_out) mul0r addr0.
    rewrite mul0r add0r; case: (boolP (N i \subset H)) => [s | _]; last by rewrite mul0r mulr_ge0 ?ler0n.
    by rewrite (subset_trans s (subsetUr _ _)).
  case: t_is => [t_b | [H1 /andP[y_in1 out1] t_H1]].
    have [-> | ->] : t = P o \/ t = c y by rewrite t_b; case: (leP (P o) (c y)) => _; [left | right].
      by have h := slack_ge0 H; linear h.
    by rewrite /slack; linear room_y.
  have in12 : N o \subset H1 :|: H.
    by apply: subset_trans in_U _; apply: setSU; rewrite sub1set.
  have h1 := inside_union P_ge0 out1 o_out in12.
  have h2 := le_plus (cuts (H1 :|: H)) (cuts (H1 :&: H)).
  have m := modular c H1 H; rewrite t_H1 /slack.
  have h := le_trans h1 h2; apply: (le_from h); from (1 : R) m.
pose P' i := if i == o then P o - t else P i.
pose N' i := if i == o then N o :\ y else N i.
pose c' z := if z == y then c y - t else c z.
have size_N' : (\sum_i #|N' i| = n)%N.
  apply: succn_inj; rewrite -size_N (bigD1 o) //= [in RHS](bigD1 o) //= /N' eqxx (cardsD1 y (N o)) y_in.
  by rewrite -addSn; congr (_ + _)%N; apply: eq_bigr => i /negbTE ->.
have P'_ge0 : nonneg P' by move=> i; rewrite /P'; case: eqP => _ //; rewrite subr_ge0.
have c'_ge0 : nonneg c' by move=> z; rewrite /c'; case: eqP => _ //; rewrite subr_ge0.
have c'_sum H : \sum_(z in H) c' z = \sum_(z in H) c z - (y \in H)%:R * t.
  rewrite !in_set_sum (bigD1 y) //= [in RHS](bigD1 y) //= /c' eqxx.
  rewrite (eq_bigr (fun z => (z \in H)%:R * c z)) => [|z /negbTE -> //]; arith.
have P'_inside H : all_inside P' N' H = all_inside P N H - (N o \subset H)%:R * P o
    + (N o :\ y \subset H)%:R * (P o - t).
  rewrite !inside_sum (bigD1 o) //= [in RHS](bigD1 o) //= /N' /P' eqxx.
  rewrite (eq_bigr (fun i => (N i \subset H)%:R * P i)) => [|i /negbTE -> //]; arith.
have cuts' H : all_inside P' N' H <= \sum_(z in H) c' z + D.
  have h := slack_ge0 H; rewrite P'_inside c'_sum; case: (boolP (y \in H)) => [yH | y_out].
    have -> : (N o :\ y \subset H) = (N o \subset H) by rewrite subDset (setUidPr _) ?sub1set.
    case: (boolP (N o \subset H)) => [_ | out].
      by apply: (le_from h); rewrite /slack; arith.
    by have g := t_slack H; rewrite yH out /slack in g; have := g isT => k; apply: (le_from k); arith.
  have -> : (N o \subset H) = false by apply/negbTE; apply: contra y_out => /subsetP; apply.
  case: (boolP (N o :\ y \subset H)) => [rest | _]; last by apply: (le_from h); rewrite /slack; arith.
  by have k := enough H y_out rest; rewrite /slack in k; apply: (le_from k); arith.
have [f' [f_ge0 f_support f_P f_c f_all]] := IH P' N' c' size_N' P'_ge0 c'_ge0 cuts'.
pose f i z := ((i == o) && (z == y))%:R * t + f' i z.
have f_mass i : mass (f i) = (i == o)%:R * t + mass (f' i).
  case: (eqVneq i o) => [-> | io]; rewrite /mass /f.
    by rewrite (eq_bigr (fun z => (z == y)%:R * t + f' o z)) ?at_one ?mul1r // => z _; rewrite eqxx.
  by rewrite mul0r add0r; apply: eq_bigr => z _; rewrite (negbTE io) mul0r add0r.
exists f; split=> [i z | i z | i | z |].
- by rewrite /f; apply: addr_ge0 => //; rewrite mulr_ge0 ?ler0n.
- move=> out; rewrite /f f_support ?addr0.
    case: eqP => [io | _]; last by rewrite mul0r.
    by case: eqP => [zy | _]; [rewrite io zy y_in in out | rewrite mul0r].
  by rewrite /N'; case: eqP out => [-> | //]; apply: contra; rewrite !inE => /andP[].
- have := f_P i; rewrite f_mass /P'; case: (eqVneq i o) => [-> h | _ h].
    by rewrite mul1r; linear h.
  by rewrite mul0r add0r.
- have := f_c z; rewrite /f /c'; case: (eqVneq z y) => [-> h | zy h].
    rewrite (eq_bigr (fun i => (i == o)%:R * t + f' i y)) => [|i _]; last by rewrite andbT.
    by rewrite at_one; linear h.
  rewrite (eq_bigr (fun i => f' i z)) // => i _; by rewrite andbF mul0r add0r.
- rewrite (eq_bigr _ (fun i _ => f_mass i)) at_one.
  have -> : mass P = mass P' + t.
    rewrite /mass (bigD1 o) //= [in RHS](bigD1 o) //= /P' eqxx.
    rewrite [in RHS](eq_bigr P) => [|i /negbTE -> //]; arith.
  by linear f_all.
Qed.

End Flow.

Section Attained.
Variables (R : realFieldType) (V Omega : finType).
Variables (P : Omega -> R) (candidates : Omega -> {set V}) (p : V -> R).
Implicit Types (emit f d : Omega -> V -> R) (H : {set V}).
Hypotheses (P_law : law P) (p_law : law p).

(** p(H) + 1 - Q(H), and the set at which it is least. *)
Definition cut H : R := \sum_(y in H) p y + 1 - all_inside P candidates H.

(** A flow of acceptances: candidates only, at most P from an outcome and p to a token. *)
Definition acceptances f :=
  [/\ forall o y, 0 <= f o y, forall o y, y \notin candidates o -> f o y = 0,
      forall o, mass (f o) <= P o & forall y, \sum_o f o y <= p y].

Lemma least_cut_flow :
  exists H f, [/\ forall H', cut H <= cut H', acceptances f & cut H <= \sum_o mass (f o)].
Proof.
have [P_ge0 P_mass] := P_law; have [p_ge0 _] := p_law.
have [t [_ t_least t_is]] := least xpredT cut (cut set0).
have [H t_H] : exists H, t = cut H by case: t_is => [-> | [H _ ->]]; [exists set0 | exists H].
have [|f [f_ge0 f_support f_P f_p f_all]] := transport (D := 1 - t) (N := candidates) P_ge0 p_ge0 (c := p).
  by move=> H'; have h := t_least H' isT; rewrite /cut in h; linear h.
exists H, f; rewrite -t_H; split=> // [H' |]; first exact: t_least.
by rewrite P_mass in f_all; linear f_all.
Qed.

(** What an outcome does not accept it draws from d. *)
Definition filled f d o : V -> R := fun y => f o y / P o + (1 - mass (f o) / P o) * d o y.

Lemma filled_scaled f d o y : acceptances f -> P o * filled f d o y = f o y + (P o - mass (f o)) * d o y.
Proof.
move=> [f_ge0 _ f_P _]; have f_nonneg : nonneg (f o) by [].
rewrite /filled; case: (eqVneq (P o) 0) => [P0 | nz].
  have m0 : mass (f o) = 0 by apply: eq_of_le; [rewrite -P0; exact: f_P | exact: nonneg_mass].
  by rewrite P0 m0 (mass_zero f_nonneg m0) subrr !mul0r addr0.
by have v : P o * (P o)^-1 = 1 := mulfV nz; from (f o y - mass (f o) * d o y) v.
Qed.

Lemma filled_law f d : acceptances f -> (forall o, law (d o)) -> forall o, law (filled f d o).
Proof.
move=> [f_ge0 _ f_P _] d_law o; have [P_ge0 _] := P_law; have [d_ge0 d_mass] := d_law o.
have inv_ge0 : 0 <= (P o)^-1 by rewrite invr_ge0.
have part : mass (f o) / P o <= 1.
  case: (eqVneq (P o) 0) => [-> | nz]; first by rewrite invr0 mulr0 ler01.
  by have h := le_scale inv_ge0 (f_P o); rewrite mulVf // mulrC in h.
split=> [y|]; first by rewrite addr_ge0 ?mulr_ge0 ?subr_ge0.
by rewrite mass_plus mass_scale d_mass /mass -mulr_suml; arith.
Qed.

Lemma filled_accepts f d : acceptances f -> (forall o, law (d o)) ->
  \sum_o mass (f o) <= verifier_acceptance P candidates (filled f d).
Proof.
move=> f_good d_law; have [f_ge0 f_support f_P _] := f_good; apply: ler_sum => o _.
rewrite mulr_sumr /mass (bigID (mem (candidates o))) /= [X in _ + X]big1 ?addr0 => [|y out]; last exact: f_support.
apply: ler_sum => y _; rewrite filled_scaled //; have [d_ge0 _] := d_law o.
have h : 0 <= (P o - mass (f o)) * d o y by rewrite mulr_ge0 ?subr_ge0.
by linear h.
Qed.

Let total f := \sum_o mass (f o).

Lemma total_by_token f : total f = mass (fun y => \sum_o f o y).
Proof. by rewrite /total /mass exchange_big. Qed.

(** T10, attained. For every law of the candidates (distinct or not, dependent or not, none perhaps)
    there is an exact verifier that accepts p(H) + 1 - Q(H) for some H, and no exact verifier accepts
    more. *)
Theorem bound_attained : exists emit H,
  [/\ verifier emit, verifier_law P emit =1 p, verifier_acceptance P candidates emit = cut H,
      forall H', cut H <= cut H' &
      forall emit', verifier emit' -> verifier_law P emit' =1 p ->
        verifier_acceptance P candidates emit' <= verifier_acceptance P candidates emit].
Proof.
have [H [f [least_H f_good enough]]] := least_cut_flow; have [f_ge0 _ f_P f_p] := f_good.
have [_ p_mass] := p_law; have [_ P_mass] := P_law.
pose rest := normalise p (fun y => p y - \sum_o f o y).
have rest_ge0 : nonneg (fun y => p y - \sum_o f o y) by move=> y; rewrite subr_ge0.
have rest_law (o : Omega) : law rest by exact: law_normalise.
have emit_law := filled_law f_good rest_law; pose emit := filled f (fun=> rest).
have exact_p : verifier_law P emit =1 p.
  move=> y; rewrite /verifier_law (eq_bigr _ (fun o _ => filled_scaled (fun=> rest) o y f_good)).
  rewrite big_split /= -mulr_suml sumrB [\sum_o P o]P_mass -/(total f) total_by_token -p_mass -mass_minus.
  by rewrite mass_normalise //; arith.
have rate : verifier_acceptance P candidates emit = cut H.
  apply: eq_of_le; first exact: acceptance_upper_bound P_law emit_law exact_p.
  exact: le_trans enough (filled_accepts f_good rest_law).
exists emit, H; split=> // emit' emit'_law exact_p'.
by rewrite rate; exact: acceptance_upper_bound P_law emit'_law exact_p'.
Qed.

(** If there is always a candidate, one can be picked. *)
Lemma some_pick : (forall o, candidates o != set0) -> exists d,
  (forall o, law (d o)) /\ forall o x, x \notin candidates o -> d o x = 0.
Proof.
move=> some; pose one o : V := xchoose (set0Pn _ (some o)).
have one_in o : one o \in candidates o by exact: xchooseP.
exists (fun o y => (y == one o)%:R); split=> [o | o x out].
  split=> [y|]; first exact: ler0n.
  by rewrite /mass (bigD1 (one o)) //= eqxx big1 ?addr0 // => y /negbTE ->.
by case: eqP => // x_one; rewrite x_one one_in in out.
Qed.

Lemma filled_only f d : acceptances f -> (forall o x, x \notin candidates o -> d o x = 0) ->
  forall o x, x \notin candidates o -> filled f d o x = 0.
Proof. by move=> [_ f_support _ _] d_only o x out; rewrite /filled f_support ?d_only // mul0r mulr0 addr0. Qed.

(** If there is always a candidate, a pick followed by one speculative step is enough: the canonical
    form loses nothing. *)
Theorem pick_attained : (forall o, candidates o != set0) -> exists pick H,
  [/\ forall o, law (pick o), forall o x, x \notin candidates o -> pick o x = 0,
      mass (minimum p (pick_law P pick)) = cut H, forall H', cut H <= cut H' &
      verifier_acceptance P candidates (canonical P pick p) = cut H].
Proof.
move=> some; have [H [f [least_H f_good enough]]] := least_cut_flow.
have [f_ge0 _ f_P f_p] := f_good; have [d [d_law d_only]] := some_pick some.
have picks := filled_law f_good d_law; pose pick := filled f d; have only := filled_only f_good d_only.
have above : cut H <= mass (minimum p (pick_law P pick)).
  apply: le_trans enough _; rewrite -/(total f) total_by_token; apply: mass_below => y.
  apply: min_greatest; first exact: f_p.
  apply: ler_sum => o _; rewrite filled_scaled //.
  have [d_ge0 _] := d_law o; have h : 0 <= (P o - mass (f o)) * d o y by rewrite mulr_ge0 ?subr_ge0.
  by linear h.
have accepts := canonical_acceptance P_law picks p_law only.
have canonical_law := canonical_verifier P_law picks p_law.
have below_cut : verifier_acceptance P candidates (canonical P pick p) <= cut H.
  exact: acceptance_upper_bound P_law canonical_law (canonical_exact P_law picks p_law).
exists pick, H; split=> //; apply: eq_of_le => //; first exact: le_trans accepts below_cut.
exact: le_trans above accepts.
Qed.

(** So T17's frontier is attained for every law of the candidates: at every bias some verifier of that
    bias, as far as there is anything to buy, accepts min(1, B + bias), and none of that bias more. *)
Theorem frontier_everywhere bias : (forall o, candidates o != set0) -> 0 <= bias -> exists emit H,
  [/\ verifier emit, forall H', cut H <= cut H',
      total_variation (verifier_law P emit) p = Num.min bias (1 - cut H),
      verifier_acceptance P candidates emit = Num.min 1 (cut H + bias) &
      forall emit', verifier emit' -> total_variation (verifier_law P emit') p <= bias ->
        verifier_acceptance P candidates emit' <= verifier_acceptance P candidates emit].
Proof.
move=> some bias_ge0; have [pick [H [picks only attains least_H _]]] := pick_attained some.
have [variation rate best] := frontier_attained P_law p_law picks bias_ge0 only attains.
by exists (frontier_rule P p pick bias), H; split=> //; exact: frontier_verifier.
Qed.

End Attained.

Section Die.
Variable R : realFieldType.

(** On the die, with one candidate from a draft that knows two faces, it is 2/3. *)
Theorem die_attained : exists emit,
  [/\ verifier emit, verifier_law (two_faces R) emit =1 die R &
      verifier_acceptance (two_faces R) one_candidate emit = 2%:R / 3%:R].
Proof.
have q_law := two_faces_law R; have p_law := die_law R.
have [emit [H [emit_law exact_p rate _ best]]] := bound_attained one_candidate q_law p_law.
exists emit; split=> //; apply: eq_of_le.
  rewrite -(known_faces_bound R); exact: acceptance_upper_bound q_law emit_law exact_p.
have picks := candidate_law R.
apply: le_trans (best _ (canonical_verifier q_law picks p_law) (canonical_exact q_law picks p_law)).
rewrite -(die_pick_attains R); apply: canonical_acceptance => //; exact: candidate_picks.
Qed.

End Die.
