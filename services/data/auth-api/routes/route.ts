import type { RoutePattern } from '../../../kit/http/router.ts';
import type { AuthDependencies } from '../dependencies.ts';
import type { AuthCall, AuthResponse } from '../http/auth-call.ts';

/** Route below `/auth/v1`. */
export interface Route extends RoutePattern {
  readonly answer: (deps: AuthDependencies, call: AuthCall) => Promise<AuthResponse>;
}
