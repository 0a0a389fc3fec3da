import type { AddonConfig } from './config.ts';
import type { Removal } from './removal.ts';
import { toRecord } from '../../contracts/is-record.ts';

/** Age rating of a title. */
export interface Rating {
  /** Certifications such as `PG-13` or `TV-MA`. Titles may have several from different countries. */
  readonly certifications: readonly string[];
  /** `none`, `mild`, `moderate` or `severe`. */
  readonly nudity: string | undefined;
}

export const noRating: Rating = { certifications: [], nudity: undefined };
const levels = ['none', 'mild', 'moderate', 'severe'];
const maxCertificationLength = 40;

/** Reads the age rating from metadata. Addons use different fields. */
export function parseRating(meta: unknown): Rating {
  const fields = toRecord(meta);
  const extras = toRecord(fields['app_extras'] ?? fields['appExtras']);
  const guide = toRecord(fields['parentsGuide'] ?? fields['parents_guide'] ?? fields['parental_guide']);
  const certifications = [
    fields['certification'],
    fields['certifications'],
    fields['contentRating'],
    fields['ageRating'],
    fields['parent_guide_certificates'],
    extras['certification'],
  ].flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [value]));
  const nudity = [fields['nudity'], fields['parent_guide_nudity_status'], guide['nudity']].find(
    (value) => typeof value === 'string',
  );
  const level = nudity?.toLowerCase();
  return {
    certifications: [
      ...new Set(
        certifications.flatMap((value) =>
          typeof value === 'string' && value.trim() !== '' ? [value.trim().slice(0, maxCertificationLength)] : [],
        ),
      ),
    ],
    nudity: level !== undefined && levels.includes(level) ? level : undefined,
  };
}

type Rules = Pick<AddonConfig, 'excludedCertifications' | 'requiredCertifications' | 'excludeNudity'>;

/** Returns true when a configuration filters by age rating. */
export function usesRating({ excludedCertifications, requiredCertifications, excludeNudity }: Rules): boolean {
  return [excludedCertifications, requiredCertifications, excludeNudity].some((list) => (list?.length ?? 0) > 0);
}

/**
 * Returns the reason why a configuration excludes a title. Titles without a certification have the certification
 * `Unknown`.
 */
export function findRatingRemoval({ certifications, nudity }: Rating, rules: Rules): Removal | undefined {
  const titleCertifications = certifications.length === 0 ? ['Unknown'] : certifications;
  const findListed = (list: readonly string[]): string | undefined => {
    const listedValues = new Set(list.map((certification) => certification.toLowerCase()));
    return titleCertifications.find((certification) => listedValues.has(certification.toLowerCase()));
  };
  const note = certifications.length === 0 ? { note: 'unknown' as const } : {};
  const excluded = findListed(rules.excludedCertifications ?? []);
  if (excluded !== undefined)
    return { rule: 'Excluded Certification', value: excluded, cause: 'certification', ...note };
  const required = rules.requiredCertifications ?? [];
  if (required.length > 0 && findListed(required) === undefined)
    return { rule: 'Required Certification', value: titleCertifications.join(', '), cause: 'certification', ...note };
  if (nudity !== undefined && rules.excludeNudity?.some((level) => level === nudity) === true)
    return { rule: 'Excluded Nudity', value: nudity, cause: 'nudity' };
  return undefined;
}
