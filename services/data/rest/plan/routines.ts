import { RestError } from '../errors.ts';
import { keyOf, type Catalogue, type Routine } from '../schema/catalogue.ts';
import { closest } from './closest.ts';

/** The function of this name that takes these arguments. @throws RestError PGRST202, PGRST203 */
export function findRoutine(
  catalogue: Catalogue,
  schema: string,
  name: string,
  names: readonly string[],
  /** A body was sent that a single argument without a name may take whole: of which types. */
  wholeBody: readonly string[],
): { readonly routine: Routine; readonly takesBody: boolean } {
  const all = catalogue.routines.get(keyOf(schema, name)) ?? [];
  const fitting = all.filter((routine) => fits(routine, names));
  const [first, second] = fitting;
  if (first !== undefined && second === undefined) return { routine: first, takesBody: false };
  if (second !== undefined) throw overloaded(fitting, schema, name);
  const whole = all.find(
    ({ arguments: [only, more] }) => only?.name === '' && more === undefined && wholeBody.includes(only.type),
  );
  if (whole !== undefined) return { routine: whole, takesBody: true };
  throw missing(catalogue, schema, name, names, wholeBody);
}

function fits({ arguments: wanted }: Routine, names: readonly string[]): boolean {
  const known = new Set(wanted.map((each) => each.name));
  return (
    names.every((name) => known.has(name)) && wanted.every((each) => !each.isRequired || names.includes(each.name))
  );
}

function overloaded(all: readonly Routine[], schema: string, name: string): RestError {
  const signatures = all.map(
    ({ arguments: list }) => `${schema}.${name}(${list.map((each) => `${each.name} => ${each.type}`).join(', ')})`,
  );
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
  const names = sent.length <= mostTold ? sent : [...sent.slice(0, mostTold), '…'];
  const parameters =
    names.length === 0 ? 'without parameters' : `with parameter${names.length === 1 ? '' : 's'} ${names.join(', ')}`;
  const single = wholeBody.length === 0 ? '' : ' or with a single unnamed json/jsonb parameter';
  const here = [...catalogue.routines.values()].flat().filter((routine) => routine.schema === schema);
  const sameName = here.find((routine) => routine.name === name);
  const near =
    sameName?.name ??
    closest(
      name,
      here.map((routine) => routine.name),
    );
  const meant = here.find((routine) => routine.name === near);
  return new RestError(
    404,
    'PGRST202',
    `Could not find the function ${call}${names.length === 0 ? ' without parameters' : `(${names.join(', ')})`} in the schema cache`,
    {
      details: `Searched for the function ${call} ${parameters}${single}, but no matches were found in the schema cache.`,
      hint: meant === undefined ? null : `Perhaps you meant to call the function ${schema}.${meant.name}${meant.arguments.length === 0 ? '' : `(${meant.arguments.map((each) => each.name).join(', ')})`}`, // prettier-ignore
    },
  );
}
