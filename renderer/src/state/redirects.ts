import { findAppPage } from '../../../services/contracts/git/web-addresses.ts';
import { parsePath, buildPath, type PagePath } from './page-path.ts';

/** Views of Messages; any other segment after `/push/` used to be the name of a topic. */
const pushSections = ['', 'topics', 'delayed', 'retention', 'history', 'statistics', 'connect', 'settings'];
/** Views of Code; another segment after `/git/` is the owner of a repository, as in the URLs of Gitea. */
const gitSections = ['', 'repositories', 'history', 'keys', 'connect', 'settings'];
/** Page that contains all quiet hours. */
const quietHoursPath = { service: 'settings', section: 'notifications' };
/** New names of views, by service and former name. */
const renamedSections: ReadonlyMap<string, string> = new Map([
  ['push planned', 'delayed'],
  ['push keeping', 'retention'],
  ['push statistics', 'history'],
  ['downloads history', 'statistics'],
  ['mail ', 'mails'],
  ['mail spool', 'mails'],
  ['notify ', 'keys'],
  ['notify given-up', ''],
  ['notify problems', ''],
]);
/** Pages that used to be at the top level and are now part of the settings. */
const settingsPages = ['accounts', 'engines', 'backup', 'log', 'given-up', 'dead-letters', 'problems'];

/** Removes a field from the query and returns its value; empty without one. */
type TakeField = (field: string) => string;

/** Redirects of former paths by service; undefined where a path is current. */
const redirects: Readonly<Record<string, (current: PagePath, take: TakeField) => Partial<PagePath> | undefined>> = {
  inbox: ({ section, id }, take) => {
    if (section !== '' && id === '') return { id: section };
    const requestedId = take('id');
    return requestedId === '' ? undefined : { id: requestedId };
  },
  downloads: ({ section }, take) => {
    const requestedId = take('id');
    const current = renamedSections.get(`downloads ${section}`);
    return requestedId === '' && current === undefined ? undefined : { section: current ?? section, id: requestedId };
  },
  push: ({ section, id }, take) => {
    const tab = take('tab');
    if ([section || tab, id].join('/') === 'quiet/') return quietHoursPath;
    if (section === '' && id === '')
      return tab === '' ? undefined : { section: renamedSections.get(`push ${tab}`) ?? tab };
    return pushSections.includes(section) ? undefined : { id: section };
  },
  notify: ({ section, id }, take) => ({
    service: 'delivery',
    section: renamedSections.get(`notify ${section}`) ?? section,
    id: id || take('id') || (section === '' ? take('key') : ''),
  }),
  mail: ({ section, id }, take) => ({
    service: 'delivery',
    section: renamedSections.get(`mail ${section}`) ?? section,
    id: id || take('id'),
  }),
  // Problems are listed in the overview.
  delivery: ({ section }) => (section === 'problems' ? {} : undefined),
  // The monitors are the first view.
  uptime: ({ section, id }) => (section === 'monitors' && id === '' ? { section: '' } : undefined),
  settings: ({ section }, take) => {
    if (section === 'network') return { service: 'network', section: '' };
    const account = section === 'accounts' ? take('account') : '';
    return account === '' ? undefined : { section, id: account };
  },
};

/** Returns the current path for a former one; undefined when the path is current. */
export function findRedirect(path: string, query: Readonly<URLSearchParams>): string | undefined {
  const current = parsePath(path);
  if (current.service === 'git' && !gitSections.includes(current.section))
    return findAppPage(path.slice('/git'.length), query);
  const remaining = new URLSearchParams(query);
  const take: TakeField = (field) => {
    const value = remaining.get(field) ?? '';
    remaining.delete(field);
    return value;
  };
  const redirected = settingsPages.includes(current.service) ? toSettingsPath(current, take) : redirect(current, take);
  if (redirected === undefined) return undefined;
  // The topic is the item in the path, and the message stays a query field.
  if (current.service === 'push' && remaining.has('id')) remaining.set('message', take('id'));
  const target = buildPath({ service: current.service, ...redirected });
  return remaining.size === 0 ? target : `${target}?${remaining.toString()}`;
}

function redirect(current: PagePath, take: TakeField): Partial<PagePath> | undefined {
  return Object.hasOwn(redirects, current.service) ? redirects[current.service]?.(current, take) : undefined;
}

function toSettingsPath({ service, section }: PagePath, take: TakeField): PagePath {
  const problems = ['given-up', 'dead-letters', 'problems'].includes(service);
  return {
    service: 'settings',
    section: problems ? 'problems' : service,
    id: service === 'accounts' ? section || take('account') : '',
  };
}
