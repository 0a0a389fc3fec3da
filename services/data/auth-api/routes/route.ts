import type { AuthResponse, AuthCall } from '../http/auth-call.ts';
import type { AuthDependencies } from '../dependencies.ts';

/** Method, path below `/auth/v1` in which `*` matches one segment, and handler. */
export type Route = readonly [
  method: string,
  path: string,
  answer: (deps: AuthDependencies, call: AuthCall) => Promise<AuthResponse>,
];
