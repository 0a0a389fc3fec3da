import { RunFault } from '../errors.ts';
import type { Run } from '../run.ts';
import type { Moment } from '../time/moment.ts';
import { Dict, Integer, typeOf, type Value } from '../values.ts';

/** What a function takes at a place, and what its code gets for it. */
interface Taken {
  readonly any: Value;
  readonly string: string;
  readonly int: number;
  readonly int64: bigint;
  readonly float64: number;
  readonly bool: boolean;
  readonly map: Dict;
  readonly time: Moment;
  readonly duration: bigint;
}
export type Kind = keyof Taken;

/** A function of the template language, or a method of one of its values. */
export interface TemplateFunction {
  readonly takes: readonly Kind[];
  /** What further values are, as many as there are. */
  readonly rest: Kind | undefined;
  readonly call: (given: readonly unknown[], run: Run) => Value;
}

type All<Kinds extends readonly Kind[]> = { readonly [Place in keyof Kinds]: Taken[Kinds[Place]] };

/** A function of exactly these parameters. */
export function takes<const Kinds extends readonly Kind[]>(
  kinds: Kinds,
  call: (given: All<Kinds>, run: Run) => Value,
): TemplateFunction {
  return { takes: kinds, rest: undefined, call: (given, run) => call(given as unknown as All<Kinds>, run) };
}

/** A function of these parameters and any number of further ones. */
export function takesMore<const Kinds extends readonly Kind[], Rest extends Kind>(
  kinds: Kinds,
  rest: Rest,
  call: (given: All<Kinds>, others: readonly Taken[Rest][], run: Run) => Value,
): TemplateFunction {
  return {
    takes: kinds,
    rest,
    call: (given, run) =>
      call(
        given.slice(0, kinds.length) as unknown as All<Kinds>,
        given.slice(kinds.length) as readonly Taken[Rest][],
        run,
      ),
  };
}

const goNames: Readonly<Record<Kind, string>> = {
  any: 'interface {}',
  string: 'string',
  int: 'int',
  int64: 'int64',
  float64: 'float64',
  bool: 'bool',
  map: 'map[string]interface {}',
  time: 'time.Time',
  duration: 'time.Duration',
};

export function goName(kind: Kind): string {
  return goNames[kind];
}

/** A value for a parameter. Go converts nothing on the way. @throws RunFault */
export function accept(value: Value, kind: Kind): unknown {
  if (kind === 'any') return value ?? null;
  if (value === undefined) {
    if (kind === 'map') return new Dict([], 'interface {}', true);
    throw new RunFault(`invalid value; expected ${goNames[kind]}`);
  }
  if (typeOf(value) === goNames[kind]) {
    if (value instanceof Integer) return kind === 'int' ? Number(value.value) : value.value;
    return value;
  }
  const got = value === null ? 'interface {}' : typeOf(value);
  throw new RunFault(`wrong type for value; expected ${goNames[kind]}; got ${got}`);
}
