import { RestError } from '../errors.ts';
import { toTableKey, type Catalogue, type Routine } from '../schema/catalogue.ts';
import { findClosestName } from './closest-name.ts';

/**
 * Finds the function that accepts the arguments.
 *
 * @throws RestError PGRST202, PGRST203
 */
export function findRoutine(
  catalogue: Catalogue,
  schema: string,
  name: string,
  names: readonly string[],
  /** Types of a single unnamed argument that can receive the entire body. */
  bodyTypes: readonly string[],
): { readonly routine: Routine; readonly takesBody: boolean } {
  const all = (catalogue.routines.get(toTableKey(schema, name)) ?? []).filter(isCallable);
  const matches = all.filter((routine) => acceptsArguments(routine, names));
  const [first, second] = matches;
  if (first !== undefined && second === undefined) return { routine: first, takesBody: names.includes('') };
  if (second !== undefined) throw createAmbiguousError(matches, schema, name);
  const bodyRoutines = all.filter(
    ({ arguments: [only, more] }) => only?.name === '' && more === undefined && bodyTypes.includes(only.type),
  );
  if (bodyRoutines.length > 1) throw createAmbiguousError(bodyRoutines, schema, name);
  if (bodyRoutines[0] !== undefined) return { routine: bodyRoutines[0], takesBody: true };
  throw createMissingError(catalogue, schema, name, names, bodyTypes);
}

/** Types that a single unnamed argument can have. */
const unnamedTypes: ReadonlySet<string> = new Set(['bytea', 'json', 'jsonb', 'text', 'xml']);

/** Returns true when requests can call the function: unnamed arguments are only possible for the entire body. */
function isCallable({ arguments: routineArguments }: Routine): boolean {
  const unnamed = routineArguments.filter(({ name }) => name === '');
  return unnamed.length === 0 || (routineArguments.length === 1 && unnamedTypes.has(routineArguments[0]?.type ?? ''));
}

function acceptsArguments({ arguments: routineArguments }: Routine, names: readonly string[]): boolean {
  const argumentNames = new Set(routineArguments.map((each) => each.name));
  return (
    names.every((name) => argumentNames.has(name)) &&
    routineArguments.every((each) => !each.isRequired || names.includes(each.name))
  );
}

function createAmbiguousError(all: readonly Routine[], schema: string, name: string): RestError {
  const formatSignature = ({ arguments: list }: Routine): string =>
    `${schema}.${name}(${list.map((each) => `${each.name} => ${each.type}`).join(', ')})`;
  const signatures = all
    .toSorted(
      (one, other) =>
        one.arguments.length - other.arguments.length || (formatSignature(one) < formatSignature(other) ? -1 : 1),
    )
    .map(formatSignature);
  return new RestError(
    300,
    'PGRST203',
    `Could not choose the best candidate function between: ${signatures.join(', ')}`,
    {
      hint: 'Try renaming the parameters or the function itself in the database so function overloading can be resolved',
    },
  );
}

/** Maximum number of argument names in an error; a body may have a million. */
const maxListedNames = 50;

function createMissingError(
  catalogue: Catalogue,
  schema: string,
  name: string,
  argumentNames: readonly string[],
  bodyTypes: readonly string[],
): RestError {
  const call = `${schema}.${name}`;
  const names =
    argumentNames.length <= maxListedNames
      ? argumentNames.toSorted()
      : [...argumentNames.slice(0, maxListedNames), '…'];
  const parameters =
    names.length === 0 ? 'without parameters' : `with parameter${names.length === 1 ? '' : 's'} ${names.join(', ')}`;
  // A body that is not JSON can only be a single argument.
  const isBodyOnly = bodyTypes.length === 1;
  const single =
    bodyTypes.length === 0 ? '' : ` ${isBodyOnly ? '' : 'or '}with a single unnamed ${bodyTypes.join('/')} parameter`;
  const listed = names.length === 0 ? ' without parameters' : `(${names.join(', ')})`;
  const searched = `${call}${isBodyOnly ? '' : ` ${parameters}`}${single}`;
  const callable = [...catalogue.routines.values()].flat().filter((each) => each.schema === schema && isCallable(each));
  const formatList = (all: readonly string[]): string => `(${all.toSorted().join(', ')})`;
  const signatures = callable
    .filter((each) => each.name === name)
    .map((each) => formatList(each.arguments.map((one) => one.name)));
  const sameName = findClosestName(formatList(names), signatures) ?? signatures[0];
  const suggestion =
    sameName === undefined
      ? findClosestName(
          name,
          callable.map((each) => each.name),
        )
      : `${name}${sameName}`;
  return new RestError(
    404,
    'PGRST202',
    `Could not find the function ${call}${isBodyOnly ? '' : listed} in the schema cache`,
    {
      details: `Searched for the function ${searched}, but no matches were found in the schema cache.`,
      hint: suggestion === undefined ? null : `Perhaps you meant to call the function ${schema}.${suggestion}`,
    },
  );
}
