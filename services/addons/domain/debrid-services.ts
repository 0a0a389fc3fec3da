import * as t from '#messages/addons-texts';
import type { Text } from '../../contracts/text.ts';

/** IDs of debrid services in configurations. */
export const serviceIds = [
  'realdebrid',
  'alldebrid',
  'premiumize',
  'debridlink',
  'putio',
  'easynews',
  'pikpak',
  'torbox',
] as const;
export type ServiceId = (typeof serviceIds)[number];

/** Credential that a service requires. */
export interface CredentialField {
  readonly id: string;
  readonly name: Text;
  readonly type: 'password' | 'string';
  readonly required: boolean;
}

/** Static description of a debrid service. */
export interface DebridService {
  readonly id: ServiceId;
  /** Letter in environment names such as `PROVIDER_A_API_KEY`. */
  readonly letter: string;
  readonly name: string;
  readonly shortName: string;
  /** Names in streams of other addons. */
  readonly knownNames: readonly string[];
  /** Address where users find the credential. */
  readonly help: string;
  readonly baseUrl: string;
  readonly credentials: readonly CredentialField[];
}

const apiKey: readonly CredentialField[] = [{ id: 'apiKey', name: t.apiKey, type: 'password', required: true }];

/** Supported services in the order of their letters. */
export const debridServices: readonly DebridService[] = [
  {
    id: 'realdebrid',
    letter: 'A',
    name: 'Real-Debrid',
    shortName: 'RD',
    knownNames: ['RD', 'Real Debrid', 'RealDebrid', 'Real-Debrid'],
    help: 'https://real-debrid.com/apitoken',
    baseUrl: 'https://api.real-debrid.com/rest/1.0',
    credentials: apiKey,
  },
  {
    id: 'alldebrid',
    letter: 'B',
    name: 'AllDebrid',
    shortName: 'AD',
    knownNames: ['AD', 'All Debrid', 'AllDebrid', 'All-Debrid'],
    help: 'https://alldebrid.com/apikeys',
    baseUrl: 'https://api.alldebrid.com',
    credentials: apiKey,
  },
  {
    id: 'premiumize',
    letter: 'C',
    name: 'Premiumize',
    shortName: 'PM',
    knownNames: ['PM', 'Premiumize'],
    help: 'https://www.premiumize.me/account',
    baseUrl: 'https://www.premiumize.me/api',
    credentials: apiKey,
  },
  {
    id: 'debridlink',
    letter: 'D',
    name: 'Debrid-Link',
    shortName: 'DL',
    knownNames: ['DL', 'Debrid Link', 'DebridLink', 'Debrid-Link'],
    help: 'https://debrid-link.com/webapp/apikey',
    baseUrl: 'https://debrid-link.com/api/v2',
    credentials: apiKey,
  },
  {
    id: 'putio',
    letter: 'E',
    name: 'put.io',
    shortName: 'P.IO',
    knownNames: ['PO', 'put.io', 'putio', 'P.IO'],
    help: 'https://app.put.io/oauth',
    baseUrl: 'https://api.put.io/v2',
    credentials: [
      { id: 'clientId', name: t.clientId, type: 'string', required: true },
      { id: 'token', name: t.token, type: 'password', required: true },
    ],
  },
  {
    id: 'easynews',
    letter: 'F',
    name: 'Easynews',
    shortName: 'EN',
    knownNames: ['EN', 'Easynews'],
    help: 'https://www.easynews.com',
    baseUrl: 'https://members.easynews.com',
    credentials: [
      { id: 'username', name: t.userName, type: 'string', required: true },
      { id: 'password', name: t.password, type: 'password', required: true },
    ],
  },
  {
    id: 'pikpak',
    letter: 'G',
    name: 'PikPak',
    shortName: 'PKP',
    knownNames: ['PP', 'PikPak', 'PKP'],
    help: 'https://mypikpak.com',
    baseUrl: 'https://api-drive.mypikpak.com',
    credentials: [
      { id: 'email', name: t.emailAddress, type: 'string', required: true },
      { id: 'password', name: t.password, type: 'password', required: true },
    ],
  },
  {
    id: 'torbox',
    letter: 'H',
    name: 'TorBox',
    shortName: 'TB',
    knownNames: ['TB', 'TRB', 'TorBox', 'Torbox'],
    help: 'https://torbox.app/settings',
    baseUrl: 'https://api.torbox.app/v1/api',
    credentials: apiKey,
  },
];

/** Service that streams of other addons may belong to. */
export interface StreamService {
  readonly id: StreamServiceId;
  readonly name: string;
  readonly shortName: string;
  /** Names in streams of other addons. */
  readonly knownNames: readonly string[];
}

/** Services that other addons use, but this program does not. */
const otherServices = [
  { id: 'offcloud', name: 'Offcloud', shortName: 'OC', knownNames: ['OC', 'Offcloud'] },
  { id: 'easydebrid', name: 'EasyDebrid', shortName: 'ED', knownNames: ['ED', 'EasyDebrid', 'Easy Debrid'] },
  { id: 'debrider', name: 'Debrider', shortName: 'DR', knownNames: ['DBD', 'DR', 'DER', 'DB', 'Debrider'] },
  { id: 'seedr', name: 'Seedr', shortName: 'SDR', knownNames: ['SR', 'SDR', 'Seedr'] },
] as const;
export type StreamServiceId = ServiceId | (typeof otherServices)[number]['id'];

/** Services that may appear in streams of other addons. */
export const streamServices: readonly StreamService[] = [...debridServices, ...otherServices];

/** Returns the service of a stream with this ID. */
export function findStreamService(id: string): StreamService | undefined {
  return streamServices.find((service) => service.id === id);
}

/** Returns the service with this ID. */
export function debridService(id: string): DebridService | undefined {
  return debridServices.find((service) => service.id === id);
}
