(** T17: the exact frontier of bias against acceptance. What a rule accepts beyond the bound is at
    most its total variation distance from the target, and a pick followed by one step attains that. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain recursive_rejection die optimal.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Variation.
Variables (R : realFieldType) (V : finType).
Implicit Types (p s e : V -> R) (H : {set V}).

Lemma two_halves_of (a : R) : 2%:R^-1 * (a + a) = a.
Proof.
have v2 : 2%:R * 2%:R^-1 = 1 :> R by rewrite mulfV // pnatr_eq0.
by from a v2.
Qed.

Lemma floor_both p s x : `|s x - p x| = floor s p x + floor p s x.
Proof.
rewrite /floor; case: (leP (p x) (s x)) => [ps | /ltW sp].
  by rewrite ger0_norm ?subr_ge0 // max_eq_l ?subr_ge0 // max_eq_r ?subr_le0 ?addr0.
by rewrite ler0_norm ?subr_le0 // opprB max_eq_r ?subr_le0 // max_eq_l ?subr_ge0 ?add0r.
Qed.

Lemma minimum_sym p s : minimum p s =1 minimum s p.
Proof. by move=> x; rewrite /minimum; case: (leP (p x) (s x)). Qed.

Lemma mass_floor_sym p s : law p -> law s -> mass (floor s p) = mass (floor p s).
Proof. by move=> p_law s_law; rewrite !mass_floor // (mass_same (minimum_sym s p)). Qed.

(** Of two laws the total variation distance is |(s - p)+|, *)
Lemma variation_floor p s : law p -> law s -> total_variation s p = mass (floor s p).
Proof.
move=> p_law s_law; rewrite /total_variation (eq_bigr (fun x => floor s p x + floor p s x)).
  by rewrite big_split /= -!/(mass _) -(mass_floor_sym p_law s_law) two_halves_of.
by move=> x _; exact: floor_both.
Qed.

(** and no set is likelier by more. *)
Lemma set_le_variation p e H :
  law p -> law e -> \sum_(y in H) e y <= \sum_(y in H) p y + total_variation e p.
Proof.
move=> p_law e_law; rewrite (variation_floor p_law e_law).
apply: le_trans (_ : \sum_(y in H) p y + \sum_(y in H) floor e p y <= _).
  rewrite -big_split; apply: ler_sum => y _ /=; have h : e y - p y <= floor e p y by exact: max_left.
  by linear h.
apply: le_plus => //; rewrite /mass [leRHS](bigID (mem H)) /=.
have rest : 0 <= \sum_(y | y \notin H) floor e p y by apply: sumr_ge0 => y _; exact: floor_ge0.
by linear rest.
Qed.

End Variation.

Section Frontier.
Variables (R : realFieldType) (V Omega : finType).
Variables (P : Omega -> R) (candidates : Omega -> {set V}) (p : V -> R).
Implicit Types emit : Omega -> V -> R.
Hypotheses (P_law : law P) (p_law : law p).

Lemma verifier_law_law emit : verifier emit -> law (verifier_law P emit).
Proof. by move=> emit_law; exact: (pick_law_law P_law emit_law). Qed.

Lemma verifier_acceptance_le1 emit : verifier emit -> verifier_acceptance P candidates emit <= 1.
Proof.
move=> emit_law; have [P_ge0 P_mass] := P_law; rewrite -P_mass; apply: ler_sum => o _.
rewrite -[leRHS]mulr1; apply: le_scale => //; have [e_ge0 e_mass] := emit_law o.
rewrite -e_mass /mass [leRHS](bigID (mem (candidates o))) /=.
have rest : 0 <= \sum_(y | y \notin candidates o) emit o y by apply: sumr_ge0.
by linear rest.
Qed.

(** T17, upper half. Whatever a verifier emits, it accepts at most the bound of exact verifiers and
    its distance from the target (and at most 1). *)
Theorem frontier_upper_bound emit (H : {set V}) :
    verifier emit ->
  verifier_acceptance P candidates emit
  <= Num.min 1 (\sum_(y in H) p y + 1 - all_inside P candidates H
                + total_variation (verifier_law P emit) p).
Proof.
move=> emit_law; apply: min_greatest; first exact: verifier_acceptance_le1.
have h := acceptance_upper_bound candidates H P_law emit_law (fun=> erefl).
apply: le_trans h _; have g := set_le_variation H p_law (verifier_law_law emit_law).
by linear g.
Qed.

(** The rule of the frontier. Of the pick, which has the law s, accept min(p, s) and a further bias of
    (s - p)+, as far as there is so much; the residual is (p - s)+ as ever. *)
Variables (pick : Omega -> V -> R) (bias : R).
Hypotheses (picks : forall o, law (pick o)) (bias_ge0 : 0 <= bias).
Let s := pick_law P pick.

Definition paid : R := Num.min bias (mass (floor s p)).
Let share : R := paid / mass (floor s p).
Definition frontier_mass : V -> R := fun x => minimum p s x + share * floor s p x.
Definition frontier_rule : Omega -> V -> R :=
  picked_step pick (test_of_mass s frontier_mass) (standard_residual p s).

Let s_law : law s. Proof. exact: pick_law_law. Qed.
Let excess_ge0 : 0 <= mass (floor s p). Proof. by apply: nonneg_mass; exact: floor_ge0. Qed.
Let paid_ge0 : 0 <= paid. Proof. exact: min_greatest. Qed.

Let share_excess : share * mass (floor s p) = paid.
Proof.
rewrite /share; have [e0 | e_neq0] := eqVneq (mass (floor s p)) 0; last by rewrite mulfVK.
by rewrite e0 mulr0 /paid e0 min_eq_r.
Qed.

Let share01 : 0 <= share <= 1.
Proof.
rewrite /share divr_ge0 //=; have [e0 | e_neq0] := eqVneq (mass (floor s p)) 0.
  by rewrite e0 invr0 mulr0 ler01.
have e_gt0 : 0 < mass (floor s p) by rewrite lt_neqAle eq_sym e_neq0.
have inv_ge0 : 0 <= (mass (floor s p))^-1 by rewrite invr_ge0.
by have h := le_scale inv_ge0 (min_right bias (mass (floor s p))); rewrite mulVf // mulrC in h.
Qed.

Let pick_parts x : minimum p s x + floor s p x = s x.
Proof. by rewrite minimum_sym minimum_floor. Qed.

Let mass_below_s : nonneg frontier_mass /\ below frontier_mass s.
Proof.
have [share_ge0 share_le1] := andP share01; split=> x.
  by apply: addr_ge0; [exact: minimum_ge0 | apply: mulr_ge0 => //; exact: floor_ge0].
rewrite -pick_parts; apply: le_plus => //.
by have h := le_scale (floor_ge0 s p x) share_le1; linear h.
Qed.

Let accepts := test_of_mass_accepts mass_below_s.1 mass_below_s.2.

Lemma frontier_verifier : verifier frontier_rule.
Proof. by apply: picked_step_verifier => //; [exact: accepts.1 | exact: standard_residual_law]. Qed.

(** It emits a mixture of the target and of the law of the pick, *)
Theorem frontier_law y : verifier_law P frontier_rule y = (1 - share) * p y + share * s y.
Proof.
rewrite picked_step_law // step_law_mass -/s !accepts.2.
have left : \sum_x (s x - accepted_mass s (test_of_mass s frontier_mass) x)
    = (1 - share) * mass (floor p s).
  rewrite (eq_bigr (fun x => (1 - share) * floor s p x)).
    by rewrite -mulr_sumr -/(mass _) (mass_floor_sym p_law s_law).
  by move=> x _; rewrite accepts.2 -pick_parts /frontier_mass; arith.
rewrite -mulr_suml left -mulrA mass_normalise; last exact: floor_ge0.
by rewrite -(minimum_floor p s y) -pick_parts /frontier_mass; arith.
Qed.

(** at just the distance that was to be paid, *)
Theorem frontier_variation : total_variation (verifier_law P frontier_rule) p = paid.
Proof.
rewrite -share_excess -(variation_floor p_law s_law) /total_variation [RHS]mulrCA [in RHS]mulr_sumr.
congr (_ * _).
have [share_ge0 _] := andP share01; apply: eq_bigr => x _; rewrite frontier_law.
have -> : (1 - share) * p x + share * s x - p x = share * (s x - p x) by arith.
by rewrite normrM ger0_norm.
Qed.

(** and accepts that much more. *)
Theorem frontier_acceptance :
    (forall o x, x \notin candidates o -> pick o x = 0) ->
  mass (minimum p s) + paid <= verifier_acceptance P candidates frontier_rule.
Proof.
move=> only; have [r_ge0 _] := standard_residual_law s p_law.
have h := picked_step_acceptance P_law picks accepts.1 r_ge0 only.
rewrite (mass_same accepts.2) /frontier_mass mass_plus mass_scale share_excess in h; exact: h.
Qed.

(** T17, attained. If the pick attains the bound of exact verifiers, B = p(H) + 1 - Q(H), the rule of
    the frontier accepts min(1, B + bias) at the bias min(bias, 1 - B), and no verifier of that
    bias accepts more. *)
Theorem frontier_attained (H : {set V}) (B := \sum_(y in H) p y + 1 - all_inside P candidates H) :
    (forall o x, x \notin candidates o -> pick o x = 0) -> mass (minimum p s) = B ->
  [/\ total_variation (verifier_law P frontier_rule) p = Num.min bias (1 - B),
      verifier_acceptance P candidates frontier_rule = Num.min 1 (B + bias) &
      forall emit, verifier emit -> total_variation (verifier_law P emit) p <= bias ->
        verifier_acceptance P candidates emit <= verifier_acceptance P candidates frontier_rule].
Proof.
move=> only attains.
have excess : mass (floor s p) = 1 - B.
  by rewrite mass_floor // (mass_same (minimum_sym s p)) attains.
have upper emit : verifier emit -> total_variation (verifier_law P emit) p <= bias ->
    verifier_acceptance P candidates emit <= Num.min 1 (B + bias).
  move=> emit_law close; apply: le_trans (frontier_upper_bound H emit_law) _; rewrite -/B.
  apply: min_greatest; first exact: min_left.
  by apply: le_trans (min_right _ _) _; apply: le_plus.
have spent : paid = Num.min bias (1 - B) by rewrite /paid excess.
have rate : verifier_acceptance P candidates frontier_rule = Num.min 1 (B + bias).
  apply: eq_of_le.
    by apply: upper; [exact: frontier_verifier | rewrite frontier_variation; exact: min_left].
  apply: le_trans (frontier_acceptance only); rewrite attains spent.
  case: (leP bias (1 - B)) => [_ | _]; first exact: min_right.
  by apply: le_trans (min_left _ _) _; have e := lexx (1 : R); linear e.
by split=> [|//|emit]; [rewrite frontier_variation | rewrite rate; exact: upper].
Qed.

End Frontier.

Section Die.
Variable R : realFieldType.

(** The fair die with one candidate, a draft that knows two faces: the outcome is the candidate, and
    it is the pick. *)
Let die := die R.
Let draft := two_faces R.
Definition one_candidate (o : 'I_3) : {set 'I_3} := [set o].
Definition candidate (o x : 'I_3) : R := (x == o)%:R.
Definition known_faces : {set 'I_3} := [set face0; face1].

Let t : R := 42%:R^-1.
Let thirds : 3%:R^-1 = 14%:R * t := third R.
Let halves : 2%:R^-1 = 21%:R * t := half R.
Let t42 : 42%:R * t = 1 := t42 R.

Lemma candidate_law o : law (candidate o).
Proof.
split=> [x|]; first exact: ler0n.
by rewrite /mass (bigD1 o) //= /candidate eqxx big1 ?addr0 // => x /negbTE ->.
Qed.

Lemma candidate_picks o x : x \notin one_candidate o -> candidate o x = 0.
Proof. by rewrite inE /candidate => /negbTE ->. Qed.

Lemma candidate_pick_law : pick_law draft candidate =1 draft.
Proof.
by move=> x; rewrite -[RHS](mass_point x draft); apply: eq_bigr => o _; rewrite /candidate eq_sym.
Qed.

(** The bound of exact verifiers is 2/3, as in [die_bound], and the pick attains it. *)
Lemma known_faces_bound :
  \sum_(y in known_faces) die y + 1 - all_inside draft one_candidate known_faces = 2%:R / 3%:R.
Proof.
rewrite /all_inside big_mkcond [X in _ - X]big_mkcond !sum3 /one_candidate !sub1set !inE /= /die /draft /die.die.
rewrite /two_faces /= thirds halves; from (- 1 : R) t42.
Qed.

Lemma die_pick_attains : mass (minimum die (pick_law draft candidate)) = 2%:R / 3%:R.
Proof.
rewrite (mass_same (g := minimum die draft)) => [|x]; last by rewrite /minimum candidate_pick_law.
by rewrite /mass sum3 !die_minimum /= -/t thirds; arith.
Qed.

(** T17 on the die. No rule accepts more than 2/3 and its bias; a bias of 1/7 buys 17/21, and the law
    (17/42, 17/42, 8/42). *)
Theorem die_frontier emit :
    verifier emit ->
  verifier_acceptance draft one_candidate emit
  <= 2%:R / 3%:R + total_variation (verifier_law draft emit) die.
Proof.
move=> emit_law; rewrite -known_faces_bound.
have h := frontier_upper_bound one_candidate (two_faces_law R) (die_law R) known_faces emit_law.
exact: le_trans h (min_right _ _).
Qed.

Let rule := frontier_rule draft die candidate 7%:R^-1.

Lemma seventh : 7%:R^-1 = 6%:R * t :> R.
Proof.
have v7 : 7%:R * 7%:R^-1 = 1 :> R by rewrite mulfV // pnatr_eq0.
have e : 7%:R^-1 * (42%:R * t) = 6%:R * t * (7%:R * 7%:R^-1) by arith.
by rewrite t42 v7 !mulr1 in e.
Qed.

Lemma seventh_ge0 : 0 <= 7%:R^-1 :> R. Proof. by rewrite invr_ge0 ler0n. Qed.

Theorem die_frontier_rule :
  [/\ verifier_law draft rule face0 = 17%:R / 42%:R, verifier_law draft rule face1 = 17%:R / 42%:R,
      verifier_law draft rule face2 = 8%:R / 42%:R,
      total_variation (verifier_law draft rule) die = 7%:R^-1 &
      verifier_acceptance draft one_candidate rule = 17%:R / 21%:R].
Proof.
have d_law := two_faces_law R; have p_law := die_law R; have t_ge0 : 0 <= t by exact: t_ge0.
have attains := die_pick_attains; rewrite -known_faces_bound in attains.
have [variation rate _] :=
  frontier_attained d_law p_law candidate_law seventh_ge0 candidate_picks attains.
have left : 1 - 2%:R / 3%:R = 14%:R * t :> R by rewrite thirds; from (- 1 : R) t42.
have small : 7%:R^-1 <= 14%:R * t :> R.
  by rewrite seventh; have h := mulr_ge0 (ler0n R 8) t_ge0; linear h.
rewrite known_faces_bound left (min_eq_l small) in variation.
have excess : mass (floor (pick_law draft candidate) die) = 14%:R * t.
  rewrite (mass_floor die (pick_law_law d_law candidate_law)) (mass_same (minimum_sym _ _)).
  by rewrite die_pick_attains left.
have part : paid draft die candidate 7%:R^-1 / mass (floor (pick_law draft candidate) die)
    = 18%:R * t.
  rewrite /paid excess (min_eq_l small) seventh.
  have nz : 14%:R * t != 0 by rewrite -thirds invr_neq0 // pnatr_eq0.
  by apply: (mulIf nz); rewrite mulfVK //; from (- (6%:R * t)) t42.
have law_at y : verifier_law draft rule y = (1 - 18%:R * t) * die y + 18%:R * t * draft y.
  by rewrite (frontier_law d_law p_law candidate_law seventh_ge0) part candidate_pick_law.
split; last 2 first.
- exact: variation.
- rewrite rate known_faces_bound; have v21 : 21%:R * 21%:R^-1 = 1 :> R by rewrite mulfV // pnatr_eq0.
  have -> : 21%:R^-1 = 2%:R * t.
    have e : 21%:R^-1 * (42%:R * t) = 2%:R * t * (21%:R * 21%:R^-1) by arith.
    by rewrite t42 v21 !mulr1 in e.
  rewrite thirds seventh min_eq_r; first by arith.
  by apply: (le_from (mulr_ge0 (ler0n R 8) t_ge0)); from (- 1 : R) t42.
- rewrite law_at /die /draft /two_faces /die.die /= thirds halves -/t; from (3%:R * t) t42.
- rewrite law_at /die /draft /two_faces /die.die /= thirds halves -/t; from (3%:R * t) t42.
- rewrite law_at /die /draft /two_faces /die.die /= thirds -/t; from (- (6%:R * t)) t42.
Qed.

End Die.
