/** The one style sheet of a report. Its hash is in the policy of the page, so that nothing else is applied. */
export const STYLE = `
:root { color-scheme: light dark; --back: #fff; --text: #1c2024; --faint: #60646c; --line: #d9dce1; --tint: #f4f5f7;
  --pass: #18794e; --block: #c02a2d; --unclear: #946800; --mark: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --back: #15171a; --text: #e6e8eb; --faint: #9ba1a8; --line: #33383f;
  --tint: #1e2126; --pass: #4cc38a; --block: #ff7d7f; --unclear: #f1b84b; --mark: #6cb6ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem 1.25rem 4rem; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; }
h1.pass { color: var(--pass); } h1.block { color: var(--block); } h1.unclear { color: var(--unclear); }
h2 { font-size: 1.1rem; margin: 2.2rem 0 .5rem; border-bottom: 1px solid var(--line); padding-bottom: .25rem; }
p, ul { margin: .5rem 0; } ul { padding-left: 1.25rem; }
code { font: .9em ui-monospace, monospace; background: var(--tint); border-radius: 3px; padding: .05em .3em;
  overflow-wrap: anywhere; }
a { color: var(--mark); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; min-width: 40%; margin: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--faint); font-weight: 600; font-size: .85rem; white-space: nowrap; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.more, .faint { color: var(--faint); }
.rates { display: grid; grid-template-columns: max-content minmax(8rem, 1fr) max-content; gap: .4rem 1rem;
  align-items: center; margin: 1.2rem 0; max-width: 52rem; }
.rates svg { width: 100%; height: 1.1rem; background: var(--tint); border-radius: 3px; }
.rates .span { fill: var(--mark); opacity: .3; } .rates .rate { fill: var(--mark); } .rates .was { fill: var(--faint); }
.runs td { font-size: .92rem; } .runs tbody { content-visibility: auto; }
.runs .failed .outcome { color: var(--block); } .runs .errored .outcome { color: var(--unclear); }
.runs .passed .outcome { color: var(--pass); }
.filter { position: absolute; opacity: 0; }
.filter + label { display: inline-block; margin: .25rem .4rem .5rem 0; padding: .1rem .7rem; border-radius: 1rem;
  border: 1px solid var(--line); cursor: pointer; }
.filter:checked + label { background: var(--text); color: var(--back); }
.filter:focus-visible + label { outline: 2px solid var(--mark); outline-offset: 2px; }
#only-failed:checked ~ .runs tr.run:not(.failed), #only-errored:checked ~ .runs tr.run:not(.errored),
#only-cancelled:checked ~ .runs tr.run:not(.cancelled), #only-passed:checked ~ .runs tr.run:not(.passed) { display: none; }
@media print { .filter, .filter + label { display: none; } }
`;
