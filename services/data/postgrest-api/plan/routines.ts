import { RestError } from '../errors.ts';
import { keyOf, type Catalogue, type Routine } from '../schema/catalogue.ts';
import { closest } from './closest-name.ts';

/** The function of this name that takes these arguments. @throws RestError PGRST202, PGRST203 */
export function findRoutine(
  catalogue: Catalogue,
  schema: string,
  name: string,
  names: readonly string[],
  /** A body was sent that a single argument without a name may take whole: of which types. */
  wholeBody: readonly string[],
): { readonly routine: Routine; readonly takesBody: boolean } {
  const all = (catalogue.routines.get(keyOf(schema, name)) ?? []).filter(isCallable);
  const fitting = all.filter((routine) => fits(routine, names));
  const [first, second] = fitting;
  if (first !== undefined && second === undefined) return { routine: first, takesBody: names.includes('') };
  if (second !== undefined) throw overloaded(fitting, schema, name);
  const whole = all.filter(
    ({ arguments: [only, more] }) => only?.name === '' && more === undefined && wholeBody.includes(only.type),
  );
  if (whole.length > 1) throw overloaded(whole, schema, name);
  if (whole[0] !== undefined) return { routine: whole[0], takesBody: true };
  throw missing(catalogue, schema, name, names, wholeBody);
}

/** Types of which one argument may have no name. */
const nameless: ReadonlySet<string> = new Set(['bytea', 'json', 'jsonb', 'text', 'xml']);

/** What has no name cannot be said in a request, but that it is the whole body. */
function isCallable({ arguments: wanted }: Routine): boolean {
  const without = wanted.filter(({ name }) => name === '');
  return without.length === 0 || (wanted.length === 1 && nameless.has(wanted[0]?.type ?? ''));
}

function fits({ arguments: wanted }: Routine, names: readonly string[]): boolean {
  const known = new Set(wanted.map((each) => each.name));
  return (
    names.every((name) => known.has(name)) && wanted.every((each) => !each.isRequired || names.includes(each.name))
  );
}

function overloaded(all: readonly Routine[], schema: string, name: string): RestError {
  const signatureOf = ({ arguments: list }: Routine): string =>
    `${schema}.${name}(${list.map((each) => `${each.name} => ${each.type}`).join(', ')})`;
  const signatures = all
    .toSorted(
      (one, other) => one.arguments.length - other.arguments.length || (signatureOf(one) < signatureOf(other) ? -1 : 1),
    )
    .map(signatureOf);
  return new RestError(
    300,
    'PGRST203',
    `Could not choose the best candidate function between: ${signatures.join(', ')}`,
    {
      hint: 'Try renaming the parameters or the function itself in the database so function overloading can be resolved',
    },
  );
}

/** Names of arguments that an error tells; a body may have a million. */
const mostTold = 50;

function missing(
  catalogue: Catalogue,
  schema: string,
  name: string,
  sent: readonly string[],
  wholeBody: readonly string[],
): RestError {
  const call = `${schema}.${name}`;
  const names = sent.length <= mostTold ? sent.toSorted() : [...sent.slice(0, mostTold), '…'];
  const parameters =
    names.length === 0 ? 'without parameters' : `with parameter${names.length === 1 ? '' : 's'} ${names.join(', ')}`;
  // A body that is no JSON can only be one argument.
  const isWhole = wholeBody.length === 1;
  const single =
    wholeBody.length === 0 ? '' : ` ${isWhole ? '' : 'or '}with a single unnamed ${wholeBody.join('/')} parameter`;
  const listed = names.length === 0 ? ' without parameters' : `(${names.join(', ')})`;
  const searched = `${call}${isWhole ? '' : ` ${parameters}`}${single}`;
  const here = [...catalogue.routines.values()].flat().filter((each) => each.schema === schema && isCallable(each));
  const listOf = (all: readonly string[]): string => `(${all.toSorted().join(', ')})`;
  const signatures = here
    .filter((each) => each.name === name)
    .map((each) => listOf(each.arguments.map((one) => one.name)));
  const sameName = closest(listOf(names), signatures) ?? signatures[0];
  const meant =
    sameName === undefined
      ? closest(
          name,
          here.map((each) => each.name),
        )
      : `${name}${sameName}`;
  return new RestError(
    404,
    'PGRST202',
    `Could not find the function ${call}${isWhole ? '' : listed} in the schema cache`,
    {
      details: `Searched for the function ${searched}, but no matches were found in the schema cache.`,
      hint: meant === undefined ? null : `Perhaps you meant to call the function ${schema}.${meant}`,
    },
  );
}
