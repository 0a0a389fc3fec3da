import type { Settings } from '../settings.ts';
import { acmeFields } from './fields.ts';
import { findDirectory, type Stage } from './authorities.ts';

/** Settings of the certificate from a public authority. */
export type AcmeSettings = Pick<Settings, keyof typeof acmeFields>;

/** Returns whether a certificate is requested: a domain is set, and its prerequisites are met. */
export function isConfigured(settings: Readonly<AcmeSettings>): boolean {
  return settings.acmeDomain !== '' && settings.acmeTermsAgreed && findDirectory(settings, 'production') !== undefined;
}

/**
 * Returns the names of the certificate: the domain and a wildcard. HTTP cannot confirm wildcards (RFC 8555, 8.3), so
 * that each shared service has its name in the certificate.
 */
export function listNames(
  { acmeDomain, acmeConfirmation }: Readonly<AcmeSettings>,
  shared: readonly string[],
): readonly string[] {
  if (acmeConfirmation !== 'http') return [acmeDomain, `*.${acmeDomain}`];
  return [acmeDomain, ...shared.map((id) => `${id}.${acmeDomain}`)];
}

/**
 * Returns the first environment to request a certificate from. Records by hand would have to be created for each, so
 * that they are created for production only.
 */
export function getFirstStage(settings: Readonly<AcmeSettings>): Stage {
  if (settings.acmeConfirmation === 'manual') return 'production';
  return findDirectory(settings, 'staging') === undefined ? 'production' : 'staging';
}

/** Returns a text that changes with everything that the result of an order depends on. It contains secrets. */
export function describeOrder(settings: Readonly<AcmeSettings>, names: readonly string[]): string {
  const fields = Object.keys(acmeFields) as (keyof AcmeSettings)[];
  return JSON.stringify([names, ...fields.map((field) => settings[field])]);
}
