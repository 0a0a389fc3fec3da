/** Path of the font of the product, which status pages load. */
export const fontPath = '/fonts/inter-latin-wght-normal.woff2';

// Colors of the app's pages.
const dark =
  '--page:oklch(19% .018 245);--card:oklch(23% .02 245);--sunken:oklch(16% .016 245);--ink:oklch(95% ' +
  '.008 245);--soft:oklch(75% .015 245);--edge:oklch(31% .02 245);--rim:oklch(52% .02 ' +
  '245);--up:oklch(78% .13 155);--down:oklch(74% .14 25);--wait:oklch(80% .12 70);--care:oklch(72% ' +
  '.1 230);--on:oklch(19% .018 245)';
const light =
  '--page:oklch(98.5% .004 230);--card:#fff;--sunken:oklch(96% .006 230);--ink:oklch(24% .02 ' +
  '245);--soft:oklch(45% .02 245);--edge:oklch(90% .01 235);--rim:oklch(66% .02 240);--up:oklch(50% ' +
  '.11 155);--down:oklch(51% .18 25);--wait:oklch(52% .11 70);--care:oklch(52% .11 235);--on:#fff';
/** Style sheet of all status pages. */
export const sheet = `@font-face{font-family:'Inter Variable';font-weight:100 900;font-display:swap;
  src:url('${fontPath}') format('woff2')}
:root{color-scheme:light;${light}}
[data-theme=dark]{color-scheme:dark;${dark}}@media (prefers-color-scheme:dark){[data-theme=auto]{color-scheme:dark;${dark}}}
*{box-sizing:border-box;margin:0}
body{background:var(--page);color:var(--ink);font:15px/1.5 'Inter Variable',Inter,system-ui,sans-serif;
  font-variant-numeric:tabular-nums;-webkit-text-size-adjust:100%}
main{max-width:46rem;margin:0 auto;padding:clamp(1.5rem,6vw,3.5rem) 1rem 2rem;display:grid;grid-template-columns:minmax(0,1fr);gap:1.5rem}
h1,h2{line-height:1.2;letter-spacing:-.01em;text-wrap:balance}
h1{font-size:1.75rem;font-weight:600;overflow-wrap:anywhere}h2{font-size:1.05rem;margin-bottom:.75rem}
header .logo{display:block;max-width:100%;max-height:4rem;margin-bottom:.75rem}header p{margin-top:.5rem;color:var(--soft)}
section,.all{background:var(--card);border:1px solid var(--edge);border-radius:.75rem;padding:1.25rem;overflow-wrap:anywhere}
a{color:inherit;text-underline-offset:2px}
a:focus-visible,button:focus-visible,input:focus-visible{outline:2px solid var(--care);outline-offset:2px}
.all{--tone:var(--wait);display:flex;align-items:center;gap:.75rem;font-size:1.15rem;font-weight:600;
  border-color:color-mix(in oklab,var(--tone),transparent 55%);
  background:color-mix(in oklab,var(--tone),var(--card) 92%)}
.all svg{flex:none;color:var(--tone)}.all.up{--tone:var(--up)}
.all.down{--tone:var(--down)}.all.maintenance{--tone:var(--care)}
.all.none{--tone:var(--soft);border-color:var(--edge);background:var(--card)}
.empty{padding:2.5rem 1.25rem;text-align:center}.empty p:first-child{font-weight:600}.empty p+p{margin-top:.25rem}
ul{list-style:none;padding:0;display:grid;gap:1.25rem}section.note ul{list-style:disc;padding-left:1.25rem;gap:.25rem}
li{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:.125rem 1rem;align-items:baseline}
section.note li{display:list-item}li+li{padding-top:1.25rem;border-top:1px solid var(--edge)}
section.note li+li{padding-top:0;border-top:0}
.past ul ul{list-style:disc;padding-left:1.25rem;gap:.25rem}.past .text li{display:list-item;padding-top:0;border-top:0}
.text{grid-column:1/-1}.name{overflow-wrap:anywhere;font-weight:500}li .soft{grid-column:1/-1}
.soft{color:var(--soft);font-size:.8125rem}.bars{grid-column:1/-1;display:flex;gap:2px;height:1.75rem;margin-top:.375rem}
.bars i{flex:1;min-width:0;border-radius:2px;background:var(--edge)}
.bars .mixed{background:linear-gradient(to top,var(--down) var(--red),var(--up) 0)}
.ends{grid-column:1/-1;display:flex;justify-content:space-between;margin-top:.25rem;color:var(--soft);font-size:.75rem}
@media (max-width:30rem){.bars{gap:1px}.bars i{border-radius:1px}}
.bars .s2{background:var(--wait)}.bars .s1{background:var(--up)}
.bars .s0{background:var(--down)}.bars .s3{background:var(--care)}
.word{display:inline-flex;align-items:center;gap:.4rem;font-weight:600;white-space:nowrap}
.word::before{content:'';width:.55rem;height:.55rem;border-radius:50%;background:currentColor}
.w0::before{border-radius:1px}.w1{color:var(--up)}.w0{color:var(--down)}
.w2{color:var(--wait)}.w3{color:var(--care)}
form{display:grid;gap:.375rem}section p+form{margin-top:1rem}label{font-weight:600}
.ask{display:flex;flex-wrap:wrap;gap:.5rem}@media (max-width:30rem){.ask button{flex:1 0 100%}}
section p{margin-top:.5rem}section p:first-child{margin-top:0}
input{flex:1 1 14rem;min-width:0;padding:.5rem .75rem}
button{padding:.5rem 1rem;cursor:pointer;background:var(--accent,var(--care));border-color:var(--accent,var(--care));color:var(--on);font-weight:600}
input,button{font:inherit;min-height:2.75rem;border:1px solid var(--rim);border-radius:.375rem}
button{font-weight:600}input{background:var(--sunken);color:var(--ink)}
section form+p{margin-top:.75rem}
.note{--tone:var(--care);border-color:color-mix(in oklab,var(--tone),transparent 55%);
  background:color-mix(in oklab,var(--tone),var(--card) 94%)}
.note.warning{--tone:var(--wait)}.note.danger{--tone:var(--down)}
footer{display:grid;gap:.5rem;text-align:center}`;

/** Sanitizes custom CSS: it must not load resources or close the style element. */
export function customStyle(css: string | null): string {
  return (css ?? '')
    .replaceAll('<', '\\3c ')
    .replaceAll(/@import[^;]*;?/gi, '')
    .replaceAll(/url\s*\(/gi, 'none(');
}
