/** Schemes that act on this computer or are not a service: the engine must not deliver to them. */
export const refusedSchemes: readonly string[] = [
  ...['windows', 'macosx', 'gnome', 'glib', 'gio', 'dbus', 'qt', 'kde', 'syslog', 'blink1', 'file', 'memory'],
];

/**
 * Services that release 2.2.0 of the library supports in addition to the native ones: name and schemes, TLS schemes after a
 * bar.
 */
const serviceList = `
46elks:  | 46elks elks
800.com:  | eight00com
Africas Talking:  | atalk
AMQP: amqp | amqps
Aprs:  | aprs
AWS Simple Email Service (SES):  | ses
Better Stack:  | betterstack
BlueSky:  | bsky bluesky
Brevo:  | brevo
BulkSMS:  | bulksms
BulkVS:  | bulkvs
Chanify:  | chanify
Clickatell:  | clickatell
ClickSend:  | clicksend
CM.com:  | cm
D7 Networks:  | d7sms
Dapnet:  | dapnet
Delta Chat: deltachat | deltachats
Dot.:  | dot
Emby: emby | embys
Enigma2: enigma2 | enigma2s
Evolution API: evolution | evolutions
Exotel:  | exotel
Firebase Cloud Messaging:  | fcm
FireHydrant:  | firehydrant
Flock:  | flock
Flowtriq: flowtriq | flowtriqs
Fluxer: fluxer | fluxers
Free-Mobile:  | freemobile
GitHub:  | github
GoAlert: goalert | goalerts
Gorush: gorush | gorushs
Groundmail:  | groundmail
GroupMe:  | groupme
Growl: growl |
Guilded:  | guilded
Gupshup:  | gupshup
httpSMS:  | httpsms
HumHub: humhub | humhubs
ilert:  | ilert
incident.io:  | incidentio
Infobip:  | infobip
IRC: irc | ircs
Jellyfin: jellyfin | jellyfins
Jira:  | jira
KakaoTalk:  | kakaotalk kakao
Kaleyra:  | kaleyra klr
Kavenegar:  | kavenegar
Kook:  | kook
Kudosity:  | burstsms kudosity
Kumulos:  | kumulos
Lauther:  | lauther
LFG Alarm:  | lfg
MailerSend:  | mailersend
MessageBird:  | msgbird
Misskey: misskey | misskeys
Mobile Message:  | mobilemessage mobilemsg
MSG91:  | msg91
Nostr:  | nostr
Notifico: notifico | notificos
Notifyre:  | notifyre
Octopush:  | octopush
Office 365:  | azure o365
OneBot: onebot | onebots
OneSignal:  | onesignal
PagerTree:  | pagertree
Parse Platform: parsep | parseps
Pinglet: pinglet | pinglets
Pingram:  | pingram
Plivo:  | plivo
PushDeer: pushdeer | pushdeers
Pushed:  | pushed
Pushjet: pjet | pjets
PushMe: pushme |
Pushplus:  | wecom
PushWard:  | pushward
Pushy:  | pushy
QQ Push:  | qq
Reddit:  | reddit
Revolt:  | revolt
RingCentral:  | ringc
Ryver:  | ryver
SendPulse:  | sendpulse
SerwerSMS:  | serwersms
Session Open Group Server: session | sessions sogs
seven:  | seven
Signalgrid:  | signalgrid
SIGNL4:  | signl4
Simplepush:  | simplepush
Sinch:  | sinch
SMPP: smpp | smpps
SMS Eagle: smseagle | smseagles
SMS Manager:  | smsmgr smsmanager
SMSC:  | smsc
SMSTunnel:  | smstunnel
SMTP2Go:  | smtp2go
Société Française du Radiotéléphone: sfr |
SparkPost:  | sparkpost
Spike.sh:  | spike
SpugPush:  | spugpush
Squadcast:  | squadcast
Stackfield:  | stackfield
Streamlabs:  | strmlabs
Telesign:  | telesign
Telnyx:  | telnyx
Threema Gateway:  | threema
Trigv: trigv | trigvs
Twist:  | twist
Twitter:  | x twitter tweet
Vapid Web Push Notifications:  | vapid
Viber:  | viber
VoIPms:  | voipms
Vonage:  | vonage nexmo
WeChat (WeCom):  | wechat
Whapi.Cloud:  | whapi
WPUSH:  | wpush
WxPusher:  | wxpusher
xMatters:  | xmatters
XMPP: xmpp | xmpps
YouLMK:  | youlmk
Zalo:  | zalo
Zoho Cliq:  | cliq zcliq zohocliq
Zoom:  | zoom
`;

/** Service that the engine supports. */
export interface EngineService {
  readonly name: string;
  readonly protocols: readonly string[];
  readonly secureProtocols: readonly string[];
}

/** Services to assume until an engine has reported its own list. */
export const engineServices: readonly EngineService[] = serviceList
  .trim()
  .split('\n')
  .map((line) => {
    const [name = '', schemes = ''] = line.split(/: (?=[^:]*$)/);
    const [protocols = '', secureProtocols = ''] = schemes.split('|').map((each) => each.trim());
    return { name, protocols: splitSchemes(protocols), secureProtocols: splitSchemes(secureProtocols) };
  });

function splitSchemes(text: string): readonly string[] {
  return text === '' ? [] : text.split(' ');
}
