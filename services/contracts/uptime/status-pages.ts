import * as m from '#messages/uptime-problems';
import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { toPatchSchema } from '../patch-schema.ts';
import { TopicName } from '../push/topics.ts';
import { mayRead, mayWrite } from '../route-access.ts';

/** Last part of the path of a status page. */
export const Slug = z
  .string()
  .max(100)
  .regex(/^[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*$/, { error: m.slugInvalid })
  .transform((slug) => slug.toLowerCase());

const text = z.string().max(100_000).nullable();
const flag = z.union([z.boolean(), z.literal([0, 1]).transform((value) => value === 1)]);

/** Domain of a status page. Must be a name server's name, never an IP address. */
export const DomainName = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .regex(/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/, { error: m.domainNameInvalid })
  .refine((name) => !/(?:^|\.)(?:\d+|0x[0-9a-f]*|localhost)$/.test(name), { error: m.domainNameIsAddress });

/** Audiences of a status page: every visitor, Homeport accounts, or visitors with its password. */
const pageAccessKinds = ['everyone', 'accounts', 'password'] as const;

/** Fields that Uptime Kuma stores elsewhere or does not have. */
const OwnPageFields = {
  access: z.enum(pageAccessKinds).default('everyone').describe('Audience of the page, its feed, badges and JSON.'),
  domainNameList: z.array(DomainName).max(20).default([]).describe('Host names at which the page is served at `/`.'),
  showOutages: flag.default(true).describe("Shows outages of the page's monitors, without their cause."),
  logo: z
    .string()
    .max(200_000, { error: m.logoTooLarge })
    .regex(/^data:image\/(?:png|jpeg|webp|gif|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}$/, { error: m.logoInvalid })
    .nullable()
    .default(null)
    .describe('Image above the title, as a data URL.'),
  accentColor: z
    .string()
    .regex(/^#[0-9a-f]{6}$/i, { error: m.colorInvalid })
    .nullable()
    .default(null)
    .describe('Color of the button and of the line at the top, such as #0e7490.'),
  pushTopic: TopicName.nullable().default(null).describe('Push topic to which news about the page is published.'),
  subscribable: flag.default(false).describe('Visitors can subscribe to news by email, and see the push topic.'),
  notifyTag: z
    .string()
    .trim()
    .min(1)
    .max(500)
    .nullable()
    .default(null)
    .describe('Tag of the Delivery destinations, such as email, that receive news about the page.'),
};

/** Editable fields of a status page, named as in Uptime Kuma. */
export const StatusPageConfig = z.object({
  slug: Slug,
  title: z.string().trim().min(1).max(255),
  description: text.default(null),
  icon: z.string().max(500).default('/icon.svg'),
  autoRefreshInterval: z.int().min(0).max(86_400).default(300),
  theme: z.enum(['auto', 'light', 'dark']).default('auto'),
  published: flag.default(true),
  showTags: flag.default(false),
  customCSS: text.default(null),
  footerText: text.default(null),
  showPoweredBy: flag.default(true),
  analyticsId: text.default(null),
  analyticsScriptUrl: text.default(null),
  analyticsType: text.default(null),
  showCertificateExpiry: flag.default(false),
  showOnlyLastHeartbeat: flag.default(false),
  rssTitle: text.default(null),
  ...OwnPageFields,
});
export type StatusPageConfig = z.infer<typeof StatusPageConfig>;

/** Returns the part of the configuration that visitors and clients of Uptime Kuma receive. */
export function publicConfig(config: StatusPageConfig) {
  const {
    access: _access,
    domainNameList: _domains,
    showOutages: _outages,
    logo: _logo,
    accentColor: _accent,
    pushTopic: _topic,
    notifyTag: _tag,
    subscribable: _open,
    ...publicFields
  } = config;
  return publicFields;
}

/** Monitor as visitors of a status page see it. */
export const PublicMonitor = z.object({
  id: z.int(),
  sendUrl: flag.default(false),
  url: z.string().max(4096).nullish(),
});
/** Group of monitors on a status page, in order. */
export const PublicGroup = z.object({
  id: z.int().optional(),
  name: z.string().max(255),
  weight: z.int().optional(),
  monitorList: z.array(PublicMonitor).max(5000).default([]),
});
export type PublicGroup = z.infer<typeof PublicGroup>;

/** Uptime Kuma's styles of a note on a status page. */
export const noteStyles = ['info', 'warning', 'danger', 'primary', 'light', 'dark'] as const;
/** Manually written note on a status page. */
export const PageNote = z.object({
  title: z.string().trim().min(1).max(500),
  content: z.string().max(50_000).default(''),
  style: z.enum(noteStyles).default('info'),
});

/** Note in the format of Uptime Kuma's clients. */
export const PublicNote = z.object({
  id: z.int(),
  style: z.enum(noteStyles),
  title: z.string(),
  content: z.string(),
  pin: z.boolean(),
  active: z.boolean(),
  createdDate: z.string(),
  lastUpdatedDate: z.string().nullable(),
  status_page_id: z.int(),
});
export type PublicNote = z.infer<typeof PublicNote>;

/** Visitor who receives the updates of a status page by mail. */
export const PageSubscriber = z
  .object({
    id: z.int(),
    address: z.string(),
    confirmed: z.boolean(),
    createdAt: z.number().describe('ms since the epoch'),
  })
  .meta({ id: 'UptimePageSubscriber' });
export type PageSubscriber = z.infer<typeof PageSubscriber>;

/** Password of a status page. */
export const PagePassword = z.string().min(8, { error: m.pagePasswordShort }).max(200, { error: m.pagePasswordLong });

/** Status page with its groups, as its editor shows it. */
export const StatusPage = StatusPageConfig.extend({
  slug: z.string(),
  id: z.int(),
  hasPassword: z.boolean(),
  publicGroupList: z.array(PublicGroup),
  incidents: z.array(PublicNote),
}).meta({ id: 'UptimeStatusPage' });
export type StatusPage = z.infer<typeof StatusPage>;

const Done = z.object({ ok: z.literal(true) });
const write = mayWrite('uptime');

/** Routes for the editor of status pages. */
export const statusPagesApi = {
  list: defineRoute({
    method: 'GET',
    path: '/api/uptime/status-pages',
    summary: 'Lists all status pages.',
    access: mayRead('uptime'),
    reply: z.object({ items: z.array(StatusPage) }),
  }),
  add: defineRoute({
    method: 'POST',
    path: '/api/uptime/status-pages',
    summary: 'Adds an empty status page with its own address.',
    access: write,
    body: z.object({ slug: Slug, title: z.string().trim().min(1).max(255) }),
    reply: StatusPage,
  }),
  one: defineRoute({
    method: 'GET',
    path: '/api/uptime/status-pages/:slug',
    summary: 'Returns a status page with its groups and notes.',
    access: mayRead('uptime'),
    reply: StatusPage,
  }),
  change: defineRoute({
    method: 'PUT',
    path: '/api/uptime/status-pages/:slug',
    summary: 'Changes the fields in the request. Groups are replaced.',
    access: write,
    body: z.looseObject({
      ...toPatchSchema(StatusPageConfig).shape,
      publicGroupList: z.array(PublicGroup).max(500).optional(),
      password: PagePassword.optional().describe(
        'Password for `access: password`, stored as a hash. If missing, the password does not change.',
      ),
    }),
    reply: StatusPage,
  }),
  remove: defineRoute({
    method: 'DELETE',
    path: '/api/uptime/status-pages/:slug',
    summary: 'Deletes a status page. Its monitors are kept.',
    access: write,
    reply: Done,
  }),
  subscribers: defineRoute({
    method: 'GET',
    path: '/api/uptime/status-pages/:slug/subscribers',
    summary: 'Lists the visitors who subscribed to the page by email; `mail` indicates whether emails can be sent.',
    access: write,
    reply: z.object({ mail: z.boolean(), items: z.array(PageSubscriber) }),
  }),
  removeSubscriber: defineRoute({
    method: 'DELETE',
    path: '/api/uptime/status-pages/:slug/subscribers/:id',
    summary: 'Removes a subscriber and deletes their address.',
    access: write,
    reply: Done,
  }),
  addNote: defineRoute({
    method: 'POST',
    path: '/api/uptime/status-pages/:slug/incidents',
    summary: 'Adds a note, which is pinned at the top of the page.',
    access: write,
    body: PageNote,
    reply: PublicNote,
  }),
  changeNote: defineRoute({
    method: 'PATCH',
    path: '/api/uptime/status-pages/:slug/incidents/:id',
    summary: 'Changes a note. `active: false` resolves it.',
    access: write,
    body: toPatchSchema(PageNote).extend({ active: z.boolean().optional(), pin: z.boolean().optional() }),
    reply: PublicNote,
  }),
  removeNote: defineRoute({
    method: 'DELETE',
    path: '/api/uptime/status-pages/:slug/incidents/:id',
    summary: 'Permanently deletes a note.',
    access: write,
    reply: Done,
  }),
};
