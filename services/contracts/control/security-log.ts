import { z } from 'zod';

/** Stable names of security events, as the log and its page have them. */
export const SecurityEventName = z.enum([
  'sign_in',
  'sign_in_failed',
  'sign_in_blocked',
  'sign_out',
  'access_refused',
  'account_created',
  'account_removed',
  'account_changed',
  'role_changed',
  'grants_changed',
  'password_changed',
  'token_created',
  'token_revoked',
  'session_ended',
  'second_factor_enabled',
  'second_factor_disabled',
  'passkey_added',
  'passkey_removed',
  'recovery_code_used',
  'settings_changed',
  'data_exported',
  'backup_created',
  'backup_downloaded',
  'backup_restored',
]);
export type SecurityEventName = z.infer<typeof SecurityEventName>;

/** One security event. Holds no secrets. */
export interface SecurityEvent {
  readonly event: SecurityEventName;
  /** The account that the event is about, as far as it is known; for a failed sign-in the name that was given. */
  readonly account?: string | undefined;
  /** The remote address; the host adds that of the current request where it is left out. */
  readonly address?: string | undefined;
  /** Id of the service at which it happened; the host adds that of the current request where it is left out. */
  readonly service?: string | undefined;
  /** The account that caused it, where that is another than `account`; the host adds that of the current request. */
  readonly by?: string | undefined;
  /** A short addition for people, such as a role, a label or a path without its query. */
  readonly detail?: string | undefined;
}
