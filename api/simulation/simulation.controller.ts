import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { Simulation, SimulationRequest } from '../../contracts/simulation.js';
import { Caller, type Principal, Visiting, type Visitor } from '../common/caller.js';
import { Requires } from '../common/requires.js';
import { Tool } from '../common/tool.js';
import { SIMULATION_REQUEST } from '../openapi/examples.js';
import { Operation } from '../openapi/operation.js';
import { SimulationService } from './simulation.service.js';

@Controller('simulate')
export class SimulationController {
  constructor(private readonly simulations: SimulationService) {}

  @Post()
  @Requires('read')
  @HttpCode(200)
  @Tool({ name: 'simulate_load', effect: 'read' })
  @Operation({
    summary: 'What other limits of a runtime, or one more scorecard, would come to',
    description:
      'Nothing is changed or started, and no cluster is asked. The code that decides who starts plays the load of the ' +
      'runtime to its end, as it stands and as it would be, over durations of earlier cases. Times are seconds from now. ' +
      'On a shared runtime other workspaces are told as `others`, but to the operator.',
    bodyExample: SIMULATION_REQUEST,
    answer: { status: 200, schema: Simulation },
    refuses: ['NOT_FOUND', 'NO_CASES'],
  })
  run(
    @Caller() principal: Principal,
    @Visiting() { identity }: Visitor,
    @Body({ schema: SimulationRequest }) request: SimulationRequest,
  ): Promise<Simulation> {
    return this.simulations.simulate(principal, identity, request);
  }
}
