import type { Settings } from '../settings.ts';

/** Environment of an authority: browsers trust certificates of production, but not those of staging. */
export type Stage = 'staging' | 'production';

/** Directories of the authorities that can be selected (RFC 8555, 7.1.1). */
const directories: Readonly<Record<'letsencrypt' | 'zerossl', Partial<Record<Stage, string>>>> = {
  letsencrypt: {
    production: 'https://acme-v02.api.letsencrypt.org/directory',
    staging: 'https://acme-staging-v02.api.letsencrypt.org/directory',
  },
  zerossl: { production: 'https://acme.zerossl.com/v2/DV90' },
};

/** Returns the address of the authority's directory; undefined when the authority has no such environment. */
export function findDirectory(
  settings: Pick<Settings, 'acmeAuthority' | 'acmeDirectory' | 'acmeStagingDirectory'>,
  stage: Stage,
): string | undefined {
  if (settings.acmeAuthority !== 'custom') return directories[settings.acmeAuthority][stage];
  const address = stage === 'production' ? settings.acmeDirectory : settings.acmeStagingDirectory;
  return address === '' ? undefined : address;
}
