import * as m from '#messages/settings-form';
import type { SettingsField, SettingsSection, SettingsView } from '../../../../services/contracts/control/settings.ts';
import { bridge } from '../../state/bridge.ts';
import { containsTerms } from '../../state/search-text.ts';

/** Area of host settings that the first page shows; other areas are on the page of the same name. */
export const generalArea = 'general';
/** Area of settings about sessions, in a section of the first page. */
export const signInArea = 'signIn';
/** Area of settings of the desktop app, on the first page of the app's own window only. */
const desktopArea = 'desktop';

/** Pages of the areas whose settings are on a page with another name. */
const pageNames: Readonly<Record<string, string>> = {
  [desktopArea]: generalArea,
  [signInArea]: generalArea,
  language: 'notifications',
};

/** Areas of host settings on the first page. */
export const firstAreas: readonly string[] = bridge === undefined ? [generalArea] : [generalArea, desktopArea];

/** Section whose few common settings are shown on the first page. */
export const firstSection = 'control';

/** True for the first page, by its name or by a section that it shows. */
export function isFirstPage(section: string): boolean {
  return ['', generalArea, 'host', firstSection].includes(section);
}

/** Returns the path of a field: `/settings/mail/hostName`, `/settings/backup/backupKeep`. */
export function getFieldPath(
  section: Pick<SettingsSection, 'id'>,
  field: Pick<SettingsField, 'name' | 'area'>,
): string {
  if (section.id === firstSection) return `/settings/${generalArea}/${field.name}`;
  if (section.id !== 'host') return `/settings/${section.id}/${field.name}`;
  // Network is a separate page with its settings in a tab.
  const page = field.area === 'network' ? '/network/settings' : `/settings/${pageNames[field.area] ?? field.area}`;
  return `${page}/${field.name}`;
}

/** Finds the page of a setting such as `services.mail.hostName`; undefined for an unknown one. */
export function findSettingPath(path: string, { sections }: Pick<SettingsView, 'sections'>): string | undefined {
  for (const section of sections) {
    const field = section.fields.find((each) => path === each.path || path.startsWith(`${each.path}.`));
    if (field !== undefined) return getFieldPath(section, field);
  }
  return undefined;
}

/** Returns the fields of some areas of the host settings. */
export function getFields(section: SettingsSection | undefined, areas: readonly string[]): readonly SettingsField[] {
  return section?.fields.filter(({ area }) => areas.includes(area)) ?? [];
}

/** A search result. */
interface SettingsResult {
  /** Unique key. */
  readonly key: string;
  readonly title: string;
  /** Title of the section. */
  readonly location: string;
  readonly to: string;
}

/** A setting on the first page that is not a host setting. */
interface LocalSetting {
  readonly key: string;
  readonly title: () => string;
  readonly location: () => string;
  readonly to: string;
  /** Further keywords of the search. */
  readonly keywords: () => string;
}

const localSettings: readonly LocalSetting[] = [
  {
    key: 'theme',
    title: m.theme,
    location: m.appearance,
    to: `/settings/${generalArea}/theme`,
    keywords: m.themeKeywords,
  },
  {
    key: 'language',
    title: m.language,
    location: m.appearance,
    to: `/settings/${generalArea}/language`,
    keywords: m.languageKeywords,
  },
  {
    key: 'density',
    title: m.density,
    location: m.appearance,
    to: `/settings/${generalArea}/density`,
    keywords: m.densityKeywords,
  },
  ...(bridge === undefined
    ? []
    : [
        {
          key: 'start',
          title: m.startAtSignIn,
          location: m.thisComputer,
          to: `/settings/${generalArea}/start`,
          keywords: m.startKeywords,
        },
        {
          key: 'close',
          title: m.whenWindowClosed,
          location: m.thisComputer,
          to: `/settings/${generalArea}/close`,
          keywords: m.closeKeywords,
        },
      ]),
];

/** Returns the settings whose title, description, name or section contain all words; title matches come first. */
export function findFields(view: Pick<SettingsView, 'sections'>, query: string): readonly SettingsResult[] {
  if (query.trim() === '') return [];
  const matchesAll = (text: string): boolean => containsTerms(text, query);
  const fields = view.sections.flatMap((section) =>
    section.fields
      .filter(({ area }) => bridge !== undefined || area !== desktopArea)
      .filter(({ title, description, name }) => matchesAll(`${title} ${description} ${name} ${section.title}`))
      .map((field) => ({
        key: field.path,
        title: field.title,
        location: section.title,
        to: getFieldPath(section, field),
      })),
  );
  const locals = localSettings
    .filter(({ title, keywords }) => matchesAll(`${title()} ${keywords()}`))
    .map(({ key, title, location, to }) => ({ key, title: title(), location: location(), to }));
  return [...locals, ...fields].toSorted(
    (first, second) => Number(matchesAll(second.title)) - Number(matchesAll(first.title)),
  );
}
