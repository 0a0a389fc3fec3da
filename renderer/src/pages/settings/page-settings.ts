import type { SettingsField, SettingsSection, SettingsView } from '../../../../services/contracts/control/settings.ts';
import { bridge } from '../../state/bridge.ts';

/** Where a part of the host's settings is shown: on the page of the same name, `general` on the settings' first. */
const general = 'general';
/** What only the desktop app does: on the first page too, and only in the app's own window. */
const desktop = 'desktop';

/** The parts of the host's settings that the first page shows. */
export const firstParts: readonly string[] = bridge === undefined ? [general] : [general, desktop];

/** Its settings are few and everybody's: the first page has them. */
export const firstSection = 'control';

/** Whether an address names the first page: by its name, or by a section that it shows. */
export function isFirst(thing: string): boolean {
  return ['', general, 'host', firstSection].includes(thing);
}

/** The page that shows a field, with the field open: `/settings/mail/hostName`, `/settings/backup/backupKeep`. */
export function placeOfField(
  section: Pick<SettingsSection, 'id'>,
  field: Pick<SettingsField, 'name' | 'area'>,
): string {
  if (section.id === firstSection) return `/settings/${general}/${field.name}`;
  if (section.id !== 'host') return `/settings/${section.id}/${field.name}`;
  // Network is a page of its own, whose settings are one of its tabs.
  const page =
    field.area === 'network' ? '/network/settings' : `/settings/${field.area === desktop ? general : field.area}`;
  return `${page}/${field.name}`;
}

/** Where a path such as `services.mail.hostName` is shown; undefined where it names no setting, or none that is known. */
export function placeOfPath(path: string, { sections }: Pick<SettingsView, 'sections'>): string | undefined {
  for (const section of sections) {
    const field = section.fields.find((each) => path === each.path || path.startsWith(`${each.path}.`));
    if (field !== undefined) return placeOfField(section, field);
  }
  return undefined;
}

/** The fields of some parts of the host's settings. */
export function partsOf(section: SettingsSection | undefined, areas: readonly string[]): readonly SettingsField[] {
  return section?.fields.filter(({ area }) => areas.includes(area)) ?? [];
}

/** Something to set that was searched for. */
interface FoundField {
  /** Unlike that of any other. */
  readonly key: string;
  readonly title: string;
  /** The section it is of. */
  readonly where: string;
  readonly to: string;
}

/** What is chosen on the first page beside the settings of the host, and the words it is found by. */
const ownChoices: readonly (FoundField & { readonly words: string })[] = [
  {
    key: 'theme',
    title: 'Theme',
    where: 'Appearance',
    to: `/settings/${general}/theme`,
    words: 'appearance colours light dark night day system mode',
  },
  ...(bridge === undefined
    ? []
    : [
        {
          key: 'start',
          title: 'Start Homeport when I sign in',
          where: 'This computer',
          to: `/settings/${general}/start`,
          words: 'autostart login boot',
        },
        {
          key: 'close',
          title: 'When the window is closed',
          where: 'This computer',
          to: `/settings/${general}/close`,
          words: 'tray quit keep running',
        },
      ]),
];

/** What all words fit, in title, description, name or section; those whose title fits come first. */
export function findFields(view: Pick<SettingsView, 'sections'>, typed: string): readonly FoundField[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const fits = (text: string): boolean => words.every((word) => text.toLowerCase().includes(word));
  const fields = view.sections.flatMap((section) =>
    section.fields
      .filter(({ area }) => bridge !== undefined || area !== desktop)
      .filter(({ title, description, name }) => fits(`${title} ${description} ${name} ${section.title}`))
      .map((field) => ({
        key: field.path,
        title: field.title,
        where: section.title,
        to: placeOfField(section, field),
      })),
  );
  return [...ownChoices.filter(({ title, words: more }) => fits(`${title} ${more}`)), ...fields].toSorted(
    (one, other) => Number(fits(other.title)) - Number(fits(one.title)),
  );
}
