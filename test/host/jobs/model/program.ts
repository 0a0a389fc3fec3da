import * as fc from 'fast-check';

/** Outcome of an attempt and its time: immediately, a turn later, or on a step of the program. */
export interface Turnout {
  readonly how: 'ok' | 'fail' | 'final' | 'aside';
  readonly pace: 'now' | 'turn' | 'held';
}

/** Job that a program enqueues. The last entry of `plan` repeats. */
export interface PlannedJob {
  readonly kind: KindName;
  readonly order: string | undefined;
  readonly key: string | undefined;
  readonly delayMs: number;
  readonly plan: readonly Turnout[];
}

/**
 * - `kept`: rows remain after the job, results are not recorded, ends are journaled.
 * - `told`: rows are deleted, results are journaled and then recorded.
 * - `plain`: rows are deleted, results are recorded together with the mark and never journaled. The timeout is short.
 */
export const kindNames = ['kept', 'told', 'plain'] as const;
export type KindName = (typeof kindNames)[number];

/** Step of a program; `at` selects the host, `which` an existing job. */
export type Step = { readonly at: number } & (
  | { readonly do: 'add'; readonly jobs: readonly PlannedJob[]; readonly together: boolean; readonly wait: boolean }
  | { readonly do: 'undo'; readonly job: PlannedJob }
  | { readonly do: 'finish' | 'retry' | 'drop'; readonly which: number }
  | { readonly do: 'hasten'; readonly kind: KindName; readonly order: string }
  | { readonly do: 'advance' | 'jump'; readonly ms: number }
  | { readonly do: 'rehandle'; readonly kind: KindName; readonly turns: number }
  | { readonly do: 'fault'; readonly how: 'none' | 'refuse' | 'doubt' }
  | { readonly do: 'disk'; readonly full: boolean }
  | { readonly do: 'turns'; readonly count: number }
  | { readonly do: 'read' }
);

const turnout = fc.record<Turnout>({
  how: fc.oneof(
    { weight: 6, arbitrary: fc.constant('ok' as const) },
    { weight: 3, arbitrary: fc.constant('fail' as const) },
    { weight: 1, arbitrary: fc.constantFrom('final' as const, 'aside' as const) },
  ),
  pace: fc.constantFrom('now', 'turn', 'turn', 'held'),
});

const orders = ['a', 'b', 'c'] as const;

const job = fc.record<PlannedJob>({
  kind: fc.constantFrom(...kindNames),
  order: fc.constantFrom(undefined, ...orders, ...orders),
  key: fc.oneof({ weight: 8, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.constantFrom('x', 'y') }),
  delayMs: fc.constantFrom(0, 0, 0, 0, 0, 1_000, 90_000),
  plan: fc.array(turnout, { minLength: 1, maxLength: 3 }),
});

const which = fc.nat(50);
const stepTime = fc.nat(3);
const minute = 60_000;

function step(weight: number, arbitrary: fc.Arbitrary<unknown>): { weight: number; arbitrary: fc.Arbitrary<Step> } {
  return {
    weight,
    arbitrary: fc.tuple(stepTime, arbitrary).map(([host, what]) => ({ at: host, ...(what as object) }) as Step),
  };
}

/** Generates the steps of one life. `disk`: the host has a disk that can be filled. */
export function arbitraryProgram(steps: number, disk: boolean): fc.Arbitrary<readonly Step[]> {
  const one = fc.oneof(
    step(
      14,
      fc.record({
        do: fc.constant('add'),
        jobs: fc.array(job, { minLength: 1, maxLength: 4 }),
        together: fc.boolean(),
        wait: fc.boolean(),
      }),
    ),
    step(1, fc.record({ do: fc.constant('undo'), job })),
    step(8, fc.record({ do: fc.constant('finish'), which })),
    step(2, fc.record({ do: fc.constant('retry'), which })),
    step(2, fc.record({ do: fc.constant('drop'), which })),
    step(
      1,
      fc.record({ do: fc.constant('hasten'), kind: fc.constantFrom(...kindNames), order: fc.constantFrom(...orders) }),
    ),
    step(6, fc.record({ do: fc.constant('advance'), ms: fc.constantFrom(1, 100, 250, 1_000, 6_000, 20_000, minute) })),
    step(
      1,
      fc.record({
        do: fc.constant('jump'),
        ms: fc.constantFrom(-60 * minute, -minute, minute, 30 * minute, 3_600_000),
      }),
    ),
    step(1, fc.record({ do: fc.constant('rehandle'), kind: fc.constantFrom(...kindNames), turns: fc.nat(5) })),
    step(2, fc.record({ do: fc.constant('fault'), how: fc.constantFrom('none', 'none', 'refuse', 'doubt') })),
    ...(disk ? [step(2, fc.record({ do: fc.constant('disk'), full: fc.boolean() }))] : []),
    step(8, fc.record({ do: fc.constant('turns'), count: fc.integer({ min: 1, max: 8 }) })),
    step(2, fc.record({ do: fc.constant('read') })),
  );
  return fc.array(one, { minLength: 3, maxLength: steps, size: 'max' });
}
