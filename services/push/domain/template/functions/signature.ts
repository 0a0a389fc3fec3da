import { ExecutionError } from '../errors.ts';
import type { TemplateRun } from '../run.ts';
import type { Moment } from '../time/moment.ts';
import { Dict, Integer, getType, type Value } from '../values.ts';

/** Parameter kinds with the type that the implementation receives. */
interface ParameterTypes {
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
export type ParameterKind = keyof ParameterTypes;

/** Function of the template language, or method of a value. */
export interface TemplateFunction {
  readonly parameters: readonly ParameterKind[];
  /** Kind of further arguments of a variadic function. */
  readonly rest: ParameterKind | undefined;
  readonly call: (args: readonly unknown[], run: TemplateRun) => Value;
}

type ArgumentsOf<Kinds extends readonly ParameterKind[]> = {
  readonly [Place in keyof Kinds]: ParameterTypes[Kinds[Place]];
};

/** Defines a function with fixed parameters. */
export function defineFunction<const Kinds extends readonly ParameterKind[]>(
  kinds: Kinds,
  call: (args: ArgumentsOf<Kinds>, run: TemplateRun) => Value,
): TemplateFunction {
  return { parameters: kinds, rest: undefined, call: (args, run) => call(args as unknown as ArgumentsOf<Kinds>, run) };
}

/** Defines a function with fixed parameters and any number of further ones. */
export function defineVariadic<const Kinds extends readonly ParameterKind[], Rest extends ParameterKind>(
  kinds: Kinds,
  rest: Rest,
  call: (args: ArgumentsOf<Kinds>, others: readonly ParameterTypes[Rest][], run: TemplateRun) => Value,
): TemplateFunction {
  return {
    parameters: kinds,
    rest,
    call: (args, run) =>
      call(
        args.slice(0, kinds.length) as unknown as ArgumentsOf<Kinds>,
        args.slice(kinds.length) as readonly ParameterTypes[Rest][],
        run,
      ),
  };
}

const goTypes: Readonly<Record<ParameterKind, string>> = {
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

export function getGoType(kind: ParameterKind): string {
  return goTypes[kind];
}

/**
 * Checks a value for a parameter without conversions, as Go does.
 *
 * @throws ExecutionError
 */
export function accept(value: Value, kind: ParameterKind): unknown {
  if (kind === 'any') return value ?? null;
  if (value === undefined) {
    if (kind === 'map') return new Dict([], 'interface {}', true);
    throw new ExecutionError(`invalid value; expected ${goTypes[kind]}`);
  }
  if (getType(value) === goTypes[kind]) {
    if (value instanceof Integer) return kind === 'int' ? Number(value.value) : value.value;
    return value;
  }
  const actualType = value === null ? 'interface {}' : getType(value);
  throw new ExecutionError(`wrong type for value; expected ${goTypes[kind]}; got ${actualType}`);
}
