import type { StatusPage } from '../../../../services/contracts/uptime/status-pages.ts';

/** The address of a page that is not made yet: none has a sign like that, so none is hidden by it. */
export const fresh = '+';

/** A group as the editor has it. */
export interface GroupDraft {
  /** Its own while it is edited, wherever it is moved. */
  readonly key: number;
  readonly id: number | undefined;
  readonly name: string;
  readonly monitors: readonly number[];
}

/** A status page as its editor has it. */
export interface PageDraft {
  title: string;
  slug: string;
  description: string;
  theme: 'auto' | 'light' | 'dark';
  published: boolean;
  subscribable: boolean;
  showOutages: boolean;
  showCertificateExpiry: boolean;
  footerText: string;
  customCSS: string;
  names: string;
  pushTopic: string;
  notifyTag: string;
  groups: readonly GroupDraft[];
}

export const newPage: PageDraft = {
  title: '',
  slug: '',
  description: '',
  theme: 'auto',
  published: true,
  showOutages: true,
  subscribable: false,
  showCertificateExpiry: false,
  footerText: '',
  customCSS: '',
  names: '',
  pushTopic: '',
  notifyTag: '',
  groups: [{ key: 0, id: undefined, name: 'Services', monitors: [] }],
};

export function pageDraftOf(page: StatusPage): PageDraft {
  const { title, slug, theme, published, showOutages, showCertificateExpiry, publicGroupList } = page;
  return {
    title,
    slug,
    theme,
    published,
    showOutages,
    showCertificateExpiry,
    subscribable: page.subscribable,
    description: page.description ?? '',
    footerText: page.footerText ?? '',
    customCSS: page.customCSS ?? '',
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

/** The fields to send; what `before` says of a monitor beyond that it is shown stays. */
export function pageFieldsOf(draft: PageDraft, before: StatusPage | undefined) {
  const given = (text: string): string | null => (text.trim() === '' ? null : text.trim());
  const shown = new Map(
    (before?.publicGroupList ?? []).flatMap(({ monitorList }) => monitorList.map((one) => [one.id, one])),
  );
  const { title, slug, theme, published, showOutages, showCertificateExpiry, customCSS } = draft;
  return {
    title,
    slug,
    theme,
    published,
    showOutages,
    showCertificateExpiry,
    subscribable: draft.subscribable,
    description: given(draft.description),
    footerText: given(draft.footerText),
    customCSS: given(customCSS),
    domainNameList: draft.names.split(/[\s,]+/).filter((name) => name !== ''),
    pushTopic: given(draft.pushTopic),
    notifyTag: given(draft.notifyTag),
    publicGroupList: draft.groups.map(({ id, name, monitors }) => ({
      ...(id === undefined ? {} : { id }),
      name,
      monitorList: monitors.map((one) => shown.get(one) ?? { id: one, sendUrl: false }),
    })),
  };
}

/** With one more group, which has no name yet. */
export function withGroup(groups: readonly GroupDraft[]): readonly GroupDraft[] {
  const key = 1 + Math.max(-1, ...groups.map((group) => group.key));
  return [...groups, { key, id: undefined, name: '', monitors: [] }];
}

/** With the one at `from` taken to another place. */
export function moved<T>(list: readonly T[], from: number, to: number): readonly T[] {
  const next = [...list];
  next.splice(to, 0, ...next.splice(from, 1));
  return next;
}
