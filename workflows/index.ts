export { admissionWorkflow } from './admission.workflow.js';
export { caseWorkflow } from './case.workflow.js';
export { scorecardWorkflow } from './scorecard.workflow.js';
export { sweepWorkflow } from './sweep.workflow.js';
export { windowWorkflow } from './window.workflow.js';
