import type { BrandLogo } from './brand-logo.ts';

/** Loads the logos by name. Only views with logos need them, so they are not part of the first page. */
export async function loadBrandLogos(): Promise<Readonly<Record<string, BrandLogo>>> {
  const [{ default: logos }, { serviceDrawings }] = await Promise.all([
    import('./brands.json', { with: { type: 'json' } }),
    import('./service-drawings.ts'),
  ]);
  return { ...serviceDrawings, ...logos };
}
