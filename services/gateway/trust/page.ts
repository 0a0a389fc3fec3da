import { renderPage } from '../pages/html.ts';
import { escapeHtml } from '../../kit/escape-html.ts';

interface Platform {
  readonly title: string;
  /** Pattern of the user agent. */
  readonly sign: RegExp;
  /** Extension of the file to install; `crt` by default. */
  readonly file?: 'mobileconfig';
  /** HTML of each step. */
  readonly steps: readonly string[];
}

const certificate = '<a href="/trust/homeport.crt">certificate</a>';
const profile = '<a href="/trust/homeport.mobileconfig">profile</a>';

/** Ordered: the first match applies, because Android also contains Linux. */
const platforms: readonly Platform[] = [
  {
    title: 'iPhone and iPad',
    sign: /iPhone|iPad/,
    file: 'mobileconfig',
    steps: [
      `Get the ${profile} and allow it.`,
      'Settings › General › VPN &amp; Device Management: install it.',
      'Settings › General › About › Certificate Trust Settings: turn it on.',
    ],
  },
  {
    title: 'Android',
    sign: /Android/,
    steps: [
      `Get the ${certificate}.`,
      'Settings › Security › Encryption &amp; credentials › Install a certificate › CA certificate.',
    ],
  },
  {
    title: 'Windows',
    sign: /Windows/,
    steps: [
      `Get the ${certificate}, open it and choose Install Certificate.`,
      'Put it into “Trusted Root Certification Authorities”.',
    ],
  },
  {
    title: 'Mac',
    sign: /Mac OS X/,
    steps: [
      `Get the ${certificate} and open it in Keychain Access, or the ${profile} and install it in the settings.`,
      'Double-click it and choose Trust › Always Trust.',
    ],
  },
  {
    title: 'Linux',
    sign: /Linux/,
    steps: [
      `Get the ${certificate} and save it as <code>/usr/local/share/ca-certificates/homeport.crt</code>.`,
      'Run <code>sudo update-ca-certificates</code>.',
      'Firefox and Chrome have lists of their own: Settings › Certificates › Import.',
    ],
  },
];

const introduction =
  'What is shared here is encrypted with a certificate that Homeport made itself. This device does ' +
  'not know it yet, and warns. Install it once: it vouches for the names and addresses of this ' +
  'home, and for nothing else.';

interface Trust {
  readonly fingerprint: string;
  readonly title: string;
  /** HTTPS address to continue at. */
  readonly home: string;
  /** User agent, which selects the instructions to expand. */
  readonly userAgent: string;
}

/** Renders the instructions to trust the certificate authority. */
export function renderTrustPage({ fingerprint, title, home, userAgent }: Trust): string {
  const devicePlatform = platforms.find(({ sign }) => sign.test(userAgent));
  const file = devicePlatform?.file ?? 'crt';
  const fileLabel = file === 'mobileconfig' ? 'profile' : 'certificate';
  const sections = platforms.map((platform) => {
    const items = platform.steps.map((step) => `<li>${step}</li>`).join('');
    const open = platform === devicePlatform ? ' open' : '';
    return `<details${open}><summary>${platform.title}</summary><ol>${items}</ol></details>`;
  });
  return renderPage(
    'Trust this machine',
    `<h1>Trust this machine</h1>
<p>${introduction}</p>
<p><a class="button" href="/trust/homeport.${file}">Get the ${fileLabel}</a></p>
<h2>Compare before you trust</h2>
<p>It is called <code>${escapeHtml(title)}</code>. Homeport shows the same fingerprint (SHA-256) under Network › Connect:</p>
<code class="print">${escapeHtml(fingerprint)}</code>
<h2>The steps on your device</h2>
${sections.join('\n')}
<p><a class="button quiet" href="${escapeHtml(home)}">Done: open what is shared</a></p>`,
  );
}
