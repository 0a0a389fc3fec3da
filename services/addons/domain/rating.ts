import type { AddonConfig } from './config.ts';
import type { Removal } from './pipeline/removal.ts';

/** Age rating of a title. */
export interface Rating {
  /** Certifications such as `PG-13` or `TV-MA`. Titles may have several from different countries. */
  readonly certifications: readonly string[];
  /** `none`, `mild`, `moderate` or `severe`. */
  readonly nudity: string | undefined;
}

export const noRating: Rating = { certifications: [], nudity: undefined };
const levels = ['none', 'mild', 'moderate', 'severe'];
const longest = 40;

/** Reads the age rating from metadata. Addons use different fields. */
export function ratingOf(meta: unknown): Rating {
  const of = record(meta);
  const extras = record(of['app_extras'] ?? of['appExtras']);
  const guide = record(of['parentsGuide'] ?? of['parents_guide'] ?? of['parental_guide']);
  const certifications = [
    of['certification'],
    of['certifications'],
    of['contentRating'],
    of['ageRating'],
    of['parent_guide_certificates'],
    extras['certification'],
  ].flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [value]));
  const nudity = [of['nudity'], of['parent_guide_nudity_status'], guide['nudity']].find(
    (value) => typeof value === 'string',
  );
  const level = nudity?.toLowerCase();
  return {
    certifications: [
      ...new Set(
        certifications.flatMap((value) =>
          typeof value === 'string' && value.trim() !== '' ? [value.trim().slice(0, longest)] : [],
        ),
      ),
    ],
    nudity: level !== undefined && levels.includes(level) ? level : undefined,
  };
}

type Rules = Pick<AddonConfig, 'excludedCertifications' | 'requiredCertifications' | 'excludeNudity'>;

/** Returns true when a configuration filters by age rating. */
export function looksAtRating({ excludedCertifications, requiredCertifications, excludeNudity }: Rules): boolean {
  return [excludedCertifications, requiredCertifications, excludeNudity].some((list) => (list?.length ?? 0) > 0);
}

/**
 * Returns the reason why a configuration excludes a title. Titles without a certification have the certification
 * `Unknown`.
 */
export function ratingProblem({ certifications, nudity }: Rating, rules: Rules): Removal | undefined {
  const known = certifications.length === 0 ? ['Unknown'] : certifications;
  const among = (list: readonly string[]): string | undefined => {
    const wanted = new Set(list.map((one) => one.toLowerCase()));
    return known.find((one) => wanted.has(one.toLowerCase()));
  };
  const excluded = among(rules.excludedCertifications ?? []);
  if (excluded !== undefined) return { rule: 'Excluded Certification', value: excluded };
  const required = rules.requiredCertifications ?? [];
  if (required.length > 0 && among(required) === undefined)
    return { rule: 'Required Certification', value: known.join(', ') };
  if (nudity !== undefined && rules.excludeNudity?.some((level) => level === nudity) === true)
    return { rule: 'Excluded Nudity', value: nudity };
  return undefined;
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
