import { engineServices, refusedSchemes } from './engine-schemes.ts';

/** Schemes that Homeport delivers to without the engine; exported for other services. */
export const nativeSchemes: ReadonlySet<string> = new Set(
  [
    'apprise apprises bark barks dbus dingtalk discord feishu form forms gchat glib gnome gotify gotifys',
    'hassio hassios ifttt inbox join json jsons kde kodi kodis lametric lametrics lark line macosx',
    'mailgun mailto mailtos mastodon mastodons matrix matrixs mmost mmosts mqtt mqtts msteams ncloud',
    'nclouds nctalk nctalks notica noticas notifiarr ntfy ntfys opsgenie pagerduty pbul popup postmark',
    'pover prowl psafer psafers push pushplus qt resend rocket rockets rsyslog schan sendgrid signal',
    'signals slack sns splunk spush synology synologys syslog tgram toot toots twilio victorops webex',
    'wecombot whatsapp windows workflow workflows wxteams xbmc xbmcs xml xmls zulip',
  ]
    .join(' ')
    .split(' '),
);

const engineSchemes: ReadonlySet<string> = new Set(
  engineServices.flatMap(({ protocols, secureProtocols }) => [...protocols, ...secureProtocols]),
);

/** Returns the component that delivers to an address: Homeport, the Apprise engine if installed, or none. */
export function getDeliverer(url: string): 'homeport' | 'engine' | 'nobody' {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url)?.[1]?.toLowerCase() ?? '';
  if (nativeSchemes.has(scheme) || scheme === 'http' || scheme === 'https') return 'homeport';
  return engineSchemes.has(scheme) && !refusedSchemes.includes(scheme) ? 'engine' : 'nobody';
}
