import * as m from '#messages/gateway-texts';
import { renderPage } from '../pages/html.ts';
import { escapeHtml } from '../../kit/escape-html.ts';
import { renderRichHtml, toCode } from '../../kit/rich-html.ts';
import { readText, type Text } from '../../contracts/text.ts';
import type { RichMessage } from '../../../messages/runtime.ts';

interface Platform {
  /** Name of the system. */
  readonly system: Text;
  /** Pattern of the user agent. */
  readonly sign: RegExp;
  /** Extension of the file to install; `crt` by default. */
  readonly file?: 'mobileconfig';
  readonly steps: readonly (Text | (() => RichMessage))[];
}

const tags = {
  certificate: (text: string): string => `<a href="/trust/homeport.crt">${text}</a>`,
  profile: (text: string): string => `<a href="/trust/homeport.mobileconfig">${text}</a>`,
  code: toCode,
  name: toCode,
};

/** Ordered: the first match applies, because Android also contains Linux. */
const platforms: readonly Platform[] = [
  {
    system: m.appleMobileTitle,
    sign: /iPhone|iPad/,
    file: 'mobileconfig',
    steps: [m.appleMobileDownload, m.appleMobileInstall, m.appleMobileTrust],
  },
  {
    system: 'Android',
    sign: /Android/,
    steps: [m.androidDownload, m.androidInstall],
  },
  {
    system: 'Windows',
    sign: /Windows/,
    steps: [m.windowsDownload, m.windowsInstall],
  },
  {
    system: 'Mac',
    sign: /Mac OS X/,
    steps: [m.macDownload, m.macTrust],
  },
  {
    system: 'Linux',
    sign: /Linux/,
    steps: [m.linuxDownload, m.linuxInstall, m.linuxBrowsers],
  },
];

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
  const fileLabel = file === 'mobileconfig' ? m.getProfile() : m.getCertificate();
  // The steps for this device are first.
  const sorted = platforms.toSorted((one, other) => Number(other === devicePlatform) - Number(one === devicePlatform));
  const sections = sorted.map((platform) => {
    const items = platform.steps.map((step) => `<li>${renderStep(step)}</li>`).join('');
    const open = platform === devicePlatform ? ' open' : '';
    return `<details${open}><summary>${escapeHtml(readText(platform.system))}</summary><ol>${items}</ol></details>`;
  });
  return renderPage(
    m.trustTitle(),
    `<h1>${escapeHtml(m.trustTitle())}</h1>
<p>${escapeHtml(m.trustIntroduction())}</p>
<h2>${escapeHtml(m.compareTitle())}</h2>
<p>${renderRichHtml(m.compare({ title }), tags)}</p>
<code class="print">${escapeHtml(fingerprint)}</code>
<a class="button wide" href="/trust/homeport.${file}">${escapeHtml(fileLabel)}</a>
<h2>${escapeHtml(m.stepsTitle())}</h2>
${sections.join('\n')}
<p><a class="button quiet" href="${escapeHtml(home)}">${escapeHtml(m.trustDone())}</a></p>`,
  );
}

function renderStep(step: Platform['steps'][number]): string {
  const text = typeof step === 'string' ? step : step();
  return typeof text === 'string' ? escapeHtml(text) : renderRichHtml(text, tags);
}
