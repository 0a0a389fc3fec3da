import type { SettingsField, SettingsSection, SettingsView } from '../../../../services/contracts/control/settings.ts';

/** Where a part of the host's settings is shown: on the page of the same name, `general` on the settings' first. */
const general = 'general';

/** The page that shows a field, with the field open: `/settings/mail/hostName`, `/settings/backup/backupKeep`. */
export function placeOfField(
  section: Pick<SettingsSection, 'id'>,
  field: Pick<SettingsField, 'name' | 'area'>,
): string {
  if (section.id !== 'host') return `/settings/${section.id}/${field.name}`;
  // Network is a page of its own, whose settings are one of its tabs.
  return `${field.area === 'network' ? '/network/settings' : `/settings/${field.area}`}/${field.name}`;
}

/** Where a path such as `services.mail.hostName` is shown; undefined where it names no setting, or none that is known. */
export function placeOfPath(path: string, { sections }: Pick<SettingsView, 'sections'>): string | undefined {
  for (const section of sections) {
    const field = section.fields.find((each) => path === each.path || path.startsWith(`${each.path}.`));
    if (field !== undefined) return placeOfField(section, field);
  }
  return undefined;
}

/** The fields of one part of the host's settings. */
export function partOf(section: SettingsSection | undefined, area: string = general): readonly SettingsField[] {
  return section?.fields.filter((field) => field.area === area) ?? [];
}

/** A field that was searched for. */
export interface FoundField {
  readonly field: SettingsField;
  readonly section: SettingsSection;
  readonly to: string;
}

/** The fields that all words fit, in title, description, name or section; those whose title fits come first. */
export function findFields(view: Pick<SettingsView, 'sections'>, typed: string): readonly FoundField[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const fits = (text: string): boolean => words.every((word) => text.toLowerCase().includes(word));
  return view.sections
    .flatMap((section) =>
      section.fields
        .filter(({ title, description, name }) => fits(`${title} ${description} ${name} ${section.title}`))
        .map((field) => ({ field, section, to: placeOfField(section, field) })),
    )
    .toSorted((one, other) => Number(fits(other.field.title)) - Number(fits(one.field.title)));
}
