import { z } from 'zod';
import { defineTopic, type Bus } from '../../../services/contracts/bus.ts';
import type { Clock } from '../../../services/contracts/service.ts';
import { hasSignedIn, type Directory } from './directory.ts';
import { SignInThrottle } from './sign-in-throttle.ts';

/** Published when a sign-in failed, so that all hosts throttle its source. */
const attemptFailed = defineTopic(
  'accounts.attempt-failed',
  z.object({ kind: z.enum(['secret', 'token']), source: z.string().max(200), name: z.string().max(200).optional() }),
  { shared: true },
);

/** Creates the throttle of sign-ins, which also counts the failed attempts at other hosts. */
export function shareThrottle(
  directory: Directory,
  { bus, clock }: { readonly bus: Bus; readonly clock: Clock },
): SignInThrottle & Disposable {
  const throttle = new SignInThrottle(
    clock,
    ({ source, name = '' }) => hasSignedIn(directory.member(name), source),
    ({ kind, source, name }) =>
      bus.publish(attemptFailed, {
        kind,
        source: source.slice(0, 200),
        ...(name === undefined ? {} : { name: name.slice(0, 200) }),
      }),
  );
  const subscription = bus.subscribe(
    attemptFailed,
    ({ name, ...attempt }) => throttle.countElsewhere({ ...attempt, name }),
    'other hosts',
  );
  return Object.assign(throttle, { [Symbol.dispose]: () => subscription[Symbol.dispose]() });
}
