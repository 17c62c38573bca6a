import { run } from './agent.mjs';
import { codeSteps } from './steps/code.mjs';
import { dataSteps } from './steps/data.mjs';
import { mathSteps } from './steps/math.mjs';
import { shellSteps } from './steps/shell.mjs';
import { shortcuts } from './steps/shortcuts.mjs';
import { textSteps } from './steps/text.mjs';

await run({ ...textSteps, ...dataSteps, ...codeSteps, ...mathSteps, ...shellSteps, ...shortcuts });
