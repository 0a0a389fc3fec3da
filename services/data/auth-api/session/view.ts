import type { StoredFactor, StoredIdentity, StoredUser } from '../store/users.ts';

/** Formats a stored time like Supabase Auth. */
export function formatTime(stored: string): string {
  return stored.endsWith('Z') ? stored : `${stored}Z`;
}

function formatOptionalTimes(fields: Readonly<Record<string, string | null>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === null ? [] : [[name, formatTime(value)]])),
  );
}

/** Formats a factor like Supabase Auth. */
export function toFactorView(factor: StoredFactor): Record<string, unknown> {
  const { id, created_at, updated_at, status, friendly_name, factor_type, phone, last_challenged_at } = factor;
  return {
    id,
    created_at: formatTime(created_at),
    updated_at: formatTime(updated_at),
    status,
    ...(friendly_name === null || friendly_name === '' ? {} : { friendly_name }),
    factor_type,
    phone: phone ?? '',
    last_challenged_at: last_challenged_at === null ? null : formatTime(last_challenged_at),
  };
}

function toIdentityView(identity: StoredIdentity): Record<string, unknown> {
  const { id, provider_id, user_id, identity_data, provider, email } = identity;
  const { last_sign_in_at, created_at, updated_at } = identity;
  return {
    identity_id: id,
    id: provider_id,
    user_id,
    identity_data,
    provider,
    ...formatOptionalTimes({ last_sign_in_at, created_at, updated_at }),
    ...(email === null || email === '' ? {} : { email }),
  };
}

/** Formats a user for clients: keys without a value are omitted, and it contains no secrets. */
export function toUserView(user: StoredUser): Record<string, unknown> {
  const { id, aud, role, email, phone, email_change, factors, identities } = user;
  const { email_confirmed_at, invited_at, phone_confirmed_at, confirmed_at, confirmation_sent_at, recovery_sent_at } =
    user;
  const { email_change_sent_at, reauthentication_sent_at, last_sign_in_at, banned_until, deleted_at } = user;
  return {
    id,
    aud: aud ?? '',
    role: role ?? '',
    email: email ?? '',
    ...formatOptionalTimes({ email_confirmed_at, invited_at }),
    phone: phone ?? '',
    ...formatOptionalTimes({ phone_confirmed_at, confirmation_sent_at, confirmed_at, recovery_sent_at }),
    ...(email_change === null || email_change === '' ? {} : { new_email: email_change }),
    ...formatOptionalTimes({ email_change_sent_at, reauthentication_sent_at, last_sign_in_at }),
    app_metadata: user.raw_app_meta_data ?? {},
    user_metadata: user.raw_user_meta_data ?? {},
    ...(factors.length === 0 ? {} : { factors: factors.map(toFactorView) }),
    identities: identities.map(toIdentityView),
    ...formatOptionalTimes({ created_at: user.created_at, updated_at: user.updated_at, banned_until, deleted_at }),
    is_anonymous: user.is_anonymous,
  };
}
