import * as m from '#messages/uptime-pages';
import type { StatusPage } from '../../../../../services/contracts/uptime/status-pages.ts';

/** Slug of the page that is being created; `+` is not valid in the slug of an existing page. */
export const newPageSlug = '+';

/** Group of monitors in the editor. */
export interface GroupDraft {
  /** Identifies the group while it is edited, regardless of its position. */
  readonly key: number;
  readonly id: number | undefined;
  readonly name: string;
  readonly monitors: readonly number[];
}

/** Status page in the editor. */
export interface PageDraft {
  title: string;
  slug: string;
  description: string;
  theme: 'auto' | 'light' | 'dark';
  published: boolean;
  access: StatusPage['access'];
  /** New password; empty keeps the stored one. */
  password: string;
  subscribable: boolean;
  showOutages: boolean;
  showCertificateExpiry: boolean;
  footerText: string;
  customCSS: string;
  /** Picture as a `data:` address; empty for none. */
  logo: string;
  /** Color such as `#0e7490`; empty for that of the app. */
  accentColor: string;
  names: string;
  pushTopic: string;
  notifyTag: string;
  groups: readonly GroupDraft[];
}

/** Returns the draft of a new page, with one group. */
export const createPage = (): PageDraft => ({
  title: '',
  slug: '',
  description: '',
  theme: 'auto',
  published: true,
  access: 'everyone',
  password: '',
  showOutages: true,
  subscribable: false,
  showCertificateExpiry: false,
  footerText: '',
  customCSS: '',
  logo: '',
  accentColor: '',
  names: '',
  pushTopic: '',
  notifyTag: '',
  groups: [{ key: 0, id: undefined, name: m.services(), monitors: [] }],
});

export function toPageDraft(page: StatusPage): PageDraft {
  const { title, slug, theme, published, showOutages, showCertificateExpiry, publicGroupList } = page;
  return {
    title,
    slug,
    theme,
    published,
    access: page.access,
    password: '',
    showOutages,
    showCertificateExpiry,
    subscribable: page.subscribable,
    description: page.description ?? '',
    footerText: page.footerText ?? '',
    customCSS: page.customCSS ?? '',
    logo: page.logo ?? '',
    accentColor: page.accentColor ?? '',
    names: page.domainNameList.join(', '),
    pushTopic: page.pushTopic ?? '',
    notifyTag: page.notifyTag ?? '',
    groups: publicGroupList.map(({ id, name, monitorList }, key) => ({
      key,
      id,
      name,
      monitors: monitorList.map((one) => one.id),
    })),
  };
}

/** Converts a draft to API fields. Other settings of the monitors in `before` are preserved. */
export function toPageFields(draft: PageDraft, before: StatusPage | undefined) {
  const emptyToNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());
  const savedMonitors = new Map(
    (before?.publicGroupList ?? []).flatMap(({ monitorList }) => monitorList.map((one) => [one.id, one])),
  );
  const { title, slug, theme, published, showOutages, showCertificateExpiry, customCSS } = draft;
  return {
    title,
    slug,
    theme,
    published,
    access: draft.access,
    ...(draft.access === 'password' && draft.password !== '' ? { password: draft.password } : {}),
    showOutages,
    showCertificateExpiry,
    subscribable: draft.subscribable,
    description: emptyToNull(draft.description),
    footerText: emptyToNull(draft.footerText),
    customCSS: emptyToNull(customCSS),
    logo: emptyToNull(draft.logo),
    accentColor: emptyToNull(draft.accentColor),
    domainNameList: draft.names.split(/[\s,]+/).filter((name) => name !== ''),
    pushTopic: emptyToNull(draft.pushTopic),
    notifyTag: emptyToNull(draft.notifyTag),
    publicGroupList: draft.groups.map(({ id, name, monitors }) => ({
      ...(id === undefined ? {} : { id }),
      name,
      monitorList: monitors.map((one) => savedMonitors.get(one) ?? { id: one, sendUrl: false }),
    })),
  };
}

/** Appends a group without a name. */
export function withGroup(groups: readonly GroupDraft[]): readonly GroupDraft[] {
  const key = 1 + Math.max(-1, ...groups.map((group) => group.key));
  return [...groups, { key, id: undefined, name: '', monitors: [] }];
}

/** Moves an item of a list to another index. */
export function moveItem<T>(list: readonly T[], from: number, to: number): readonly T[] {
  const next = [...list];
  next.splice(to, 0, ...next.splice(from, 1));
  return next;
}
