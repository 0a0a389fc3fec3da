import { z } from 'zod';

/** Stable names of security events, used by the log and its page. */
export const SecurityEventName = z.enum([
  'sign_in',
  'sign_in_failed',
  'sign_in_blocked',
  'sign_out',
  'access_refused',
  'rate_limited',
  'account_created',
  'account_removed',
  'account_changed',
  'role_changed',
  'grants_changed',
  'password_changed',
  'token_created',
  'token_revoked',
  'session_ended',
  'link_created',
  'link_revoked',
  'link_used',
  'second_factor_required',
  'second_factor_enabled',
  'second_factor_disabled',
  'passkey_added',
  'passkey_removed',
  'recovery_code_used',
  'recovery_codes_replaced',
  'settings_changed',
  'data_exported',
  'backup_created',
  'backup_downloaded',
  'backup_restored',
]);
export type SecurityEventName = z.infer<typeof SecurityEventName>;

/** Security event. Contains no secrets. */
export interface SecurityEvent {
  readonly event: SecurityEventName;
  /** Account that the event is about, if known; for a failed sign-in the name that was entered. */
  readonly account?: string | undefined;
  /** Remote address; defaults to that of the current request. */
  readonly address?: string | undefined;
  /** Id of the service; defaults to that of the current request. */
  readonly service?: string | undefined;
  /** Account that caused the event when it differs from `account`; defaults to that of the current request. */
  readonly by?: string | undefined;
  /** Short addition for display, such as a role, a label or a path without query. */
  readonly detail?: string | undefined;
}
