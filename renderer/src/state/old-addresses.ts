import { findAppPage } from '../../../services/contracts/git/web-addresses.ts';
import { addressOf, pathOf, type Address } from './address.ts';

/** The views of Messages; any other word behind `/push/` was a topic's name once. */
const pushThings = ['', 'topics', 'delayed', 'retention', 'history', 'statistics', 'connect', 'settings'];
/** The views of Code; another part behind `/git/` is the owner of a repository, as in addresses of Gitea. */
const gitThings = ['', 'repositories', 'history', 'keys', 'connect', 'settings'];
/** Its quiet hours stand with all others. */
const quietHours = { service: 'settings', thing: 'notifications' };
/** Views that have another name now, by service and their old one. */
const renamed: ReadonlyMap<string, string> = new Map([
  ['push planned', 'delayed'],
  ['push keeping', 'retention'],
  ['push statistics', 'history'],
  ['downloads history', 'statistics'],
  ['mail ', 'mails'],
  ['mail spool', 'mails'],
  ['notify ', 'keys'],
  ['notify given-up', 'problems'],
]);
/** What stood in the rail before it moved under the settings. */
const house = ['accounts', 'engines', 'backup', 'log', 'given-up', 'dead-letters', 'problems'];

/** Takes a field out of the query and answers what it said; empty without one. */
type Take = (field: string) => string;

/** Where each service's old addresses lead; undefined where an address is a present one. */
const moved: Readonly<Record<string, (now: Address, take: Take) => Partial<Address> | undefined>> = {
  inbox: ({ thing, id }, take) => {
    if (thing !== '' && id === '') return { id: thing };
    const asked = take('id');
    return asked === '' ? undefined : { id: asked };
  },
  downloads: ({ thing }, take) => {
    const asked = take('id');
    const now = renamed.get(`downloads ${thing}`);
    return asked === '' && now === undefined ? undefined : { thing: now ?? thing, id: asked };
  },
  push: ({ thing, id }, take) => {
    const tab = take('tab');
    if ([thing || tab, id].join('/') === 'quiet/') return quietHours;
    if (thing === '' && id === '') return tab === '' ? undefined : { thing: renamed.get(`push ${tab}`) ?? tab };
    return pushThings.includes(thing) ? undefined : { id: thing };
  },
  notify: ({ thing, id }, take) => ({
    service: 'delivery',
    thing: renamed.get(`notify ${thing}`) ?? thing,
    id: id || take('id') || (thing === '' ? take('key') : ''),
  }),
  mail: ({ thing, id }, take) => ({
    service: 'delivery',
    thing: renamed.get(`mail ${thing}`) ?? thing,
    id: id || take('id'),
  }),
  settings: ({ thing }, take) => {
    if (thing === 'network') return { service: 'network', thing: '' };
    const account = thing === 'accounts' ? take('account') : '';
    return account === '' ? undefined : { thing, id: account };
  },
};

/** The present address of one that was kept from before; undefined when it is a present one. */
export function presentAddress(path: string, query: Readonly<URLSearchParams>): string | undefined {
  const now = addressOf(path);
  if (now.service === 'git' && !gitThings.includes(now.thing)) return findAppPage(path.slice('/git'.length), query);
  const left = new URLSearchParams(query);
  const take: Take = (field) => {
    const value = left.get(field) ?? '';
    left.delete(field);
    return value;
  };
  const next = house.includes(now.service) ? houseAddress(now, take) : move(now, take);
  if (next === undefined) return undefined;
  // A message of a topic: the topic is the thing, and the message stays a field.
  if (now.service === 'push' && left.has('id')) left.set('message', take('id'));
  const to = pathOf({ service: now.service, ...next });
  return left.size === 0 ? to : `${to}?${left.toString()}`;
}

function move(now: Address, take: Take): Partial<Address> | undefined {
  return Object.hasOwn(moved, now.service) ? moved[now.service]?.(now, take) : undefined;
}

function houseAddress({ service, thing }: Address, take: Take): Address {
  const problems = ['given-up', 'dead-letters', 'problems'].includes(service);
  return {
    service: 'settings',
    thing: problems ? 'problems' : service,
    id: service === 'accounts' ? thing || take('account') : '',
  };
}
