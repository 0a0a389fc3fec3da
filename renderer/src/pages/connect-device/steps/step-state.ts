/** State of a step; exactly one of an unfinished setup is `current`. */
export type StepState = 'done' | 'current' | 'todo';

/** Returns the state of each step: the first one that is not completed is the current one. */
export function getStepStates<Name extends string>(
  completed: Readonly<Record<Name, boolean>>,
  order: readonly Name[],
): Readonly<Record<Name, StepState>> {
  const current = order.find((name) => !completed[name]);
  const states = order.map((name): [Name, StepState] => [
    name,
    name === current ? 'current' : completed[name] ? 'done' : 'todo',
  ]);
  return Object.fromEntries(states) as Record<Name, StepState>;
}
