import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import { gitignoreTexts } from '../domain/gitignore-texts.ts';
import { labelSets, type LabelTemplate } from '../domain/label-sets.ts';
import { licenseTexts } from '../domain/license-texts.ts';
import type { Tables } from '../store/tables.ts';

/** Requested initial files of a new repository; an empty text for none. */
export interface InitialFileOptions {
  /** Comma-separated names. */
  readonly gitignores: string;
  readonly license: string;
  readonly labels: string;
}

/** Initial files and labels of a new repository. */
export interface InitialFiles {
  readonly gitignore: string;
  readonly license: string;
  readonly labels: readonly LabelTemplate[];
}

/**
 * Resolves template names to their content.
 * @throws Problem `git.invalid` (422) for an unknown template
 */
export function resolveInitialFiles({ gitignores, license, labels }: InitialFileOptions): InitialFiles {
  const names = gitignores
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const sections = names.map((name) => `# ${name}\n${getTemplate('gitignore', gitignoreTexts, name)}`);
  return {
    gitignore: sections.join('\n'),
    license: license === '' ? '' : getTemplate('license', licenseTexts, license).body,
    labels: labels === '' ? [] : getTemplate('label', labelSets, labels),
  };
}

/** Fills year and owner into the text of a license. */
export function fillLicense(text: string, owner: string, year: number): string {
  return text.replaceAll('<year>', String(year)).replaceAll('<owner>', () => owner);
}

/** Adds labels to a repository that has none. */
export async function addLabels(
  db: Kysely<Tables>,
  repository: number,
  labels: readonly LabelTemplate[],
): Promise<void> {
  if (labels.length === 0) return;
  const rows = labels.map(({ exclusive, ...label }) => ({
    repository_id: repository,
    ...label,
    exclusive: Number(exclusive),
    archived: 0,
  }));
  await db.insertInto('labels').values(rows).execute();
}

function getTemplate<Item>(kind: string, templates: Readonly<Record<string, Item>>, name: string): Item {
  const item = Object.hasOwn(templates, name) ? templates[name] : undefined;
  if (item === undefined) throw new Problem('git.invalid', 422, `${kind} template does not exist [name: ${name}]`);
  return item;
}
